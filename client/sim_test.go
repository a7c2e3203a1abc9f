package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"scorel/protocol"
	"scorel/protocol/fold"
)

// sim is a host's session as docs/protocol.md and docs/events.md have it: a log, a ring, an
// epoch and the state folded from what was sent. It is the oracle of the tests.
type sim struct {
	t      failer
	log    []protocol.Event // as they were stored
	ring   []protocol.Event // what was sent in this epoch and is still there
	passed protocol.Seq     // the newest that the ring has lost
	seq    protocol.Seq
	epochs int
	ids    int
	live   protocol.Live
	turn   protocol.TurnID
	call   string // of the tool that runs
	result protocol.EventID
	subs   []*viewer
}

type failer interface {
	Fatalf(format string, args ...any)
}

// viewer is a client of it: what is on its way, and what it makes of it.
type viewer struct {
	host    *sim
	name    string
	tail    int
	open    bool
	frames  []sent
	last    protocol.Seq // the newest persistent event that was sent
	session Session
	screen  *Projection
	got     []protocol.Event // persistent ones since the last full reload
	record  func(mark string, line []byte)
	more    chan struct{} // when not nil, told of frames
}

// sent is a frame on its way: up to where the client has the log after it, and
// whether it belongs to the stream, not to a catching up.
type sent struct {
	data   []byte
	last   protocol.Seq
	stream bool
}

func newSim(t failer) *sim {
	s := &sim{t: t}
	s.live = protocol.Live{DeviceID: "dev_sim"}
	s.epoch()
	return s
}

func (s *sim) id(prefix string) string {
	s.ids++
	return fmt.Sprintf("%s_%016d", prefix, s.ids)
}

// epoch begins a new one, as a start of the host does: the state is what the log
// says.
func (s *sim) epoch() {
	s.epochs++
	s.live = protocol.Live{DeviceID: "dev_sim"}
	for _, e := range s.log {
		fold.Apply(&s.live, e)
	}
	s.live.StreamEpoch = protocol.Epoch(fmt.Sprintf("epo_%016d", s.epochs))
	s.seq = s.live.ThroughSeq
	s.ring, s.passed, s.turn, s.call = nil, s.seq, "", ""
	for _, v := range s.subs {
		if v.open {
			v.send(&protocol.ResyncFrame{SessionID: one, Mode: protocol.PersistentFallback})
			v.live()
		}
	}
}

// put stores and sends an event.
func (s *sim) put(body protocol.Body) protocol.EventID {
	return s.putAs(protocol.EventID(s.id("evt")), s.live.LeafID, body)
}

func (s *sim) putAs(id, parent protocol.EventID, body protocol.Body) protocol.EventID {
	e := protocol.NewEvent(body)
	s.seq++
	e.Seq, e.SessionID, e.ClientID, e.TS = s.seq, one, "cli_sim", int64(s.seq)
	if e.IsTransient() {
		e.TurnID = s.turn
	} else {
		e.ID, e.ParentID = id, parent
	}
	line, err := e.AppendLine(nil)
	if err != nil {
		s.t.Fatalf("an event: %v", err)
	}
	if e, err = protocol.ParseEvent(line); err != nil {
		s.t.Fatalf("an event: %v", err)
	}
	if !e.IsTransient() {
		s.log = append(s.log, e)
	}
	fold.Apply(&s.live, e)
	s.ring = append(s.ring, e)
	for _, v := range s.subs {
		if v.open {
			v.send(&protocol.EventsFrame{SessionID: one, Events: []protocol.Event{e}})
		}
	}
	return id
}

func (s *sim) user(text string) { s.put(&protocol.MessageBody{Message: protocol.UserText(text)}) }

// path returns the events from the root to an event.
func (s *sim) path(leaf protocol.EventID) []protocol.Event {
	var out []protocol.Event
	for id := leaf; id != ""; {
		i := slices.IndexFunc(s.log, func(e protocol.Event) bool { return e.ID == id })
		if i < 0 {
			s.t.Fatalf("the path of %s ends at %s", leaf, id)
		}
		out = append(out, s.log[i])
		id = s.log[i].ParentID
	}
	slices.Reverse(out)
	return out
}

// page answers get_path; a page has 4 events at most.
func (s *sim) page(r *protocol.GetPath) *protocol.Events {
	from := r.LeafID
	if r.BeforeID != "" {
		i := slices.IndexFunc(s.log, func(e protocol.Event) bool { return e.ID == r.BeforeID })
		from = s.log[i].ParentID
	}
	path := s.path(from)
	slices.Reverse(path)
	n := min(len(path), r.Limit, 4)
	return &protocol.Events{Events: path[:n], More: n < len(path), LeafID: s.live.LeafID}
}

// join opens the session for a viewer that is not connected.
func (v *viewer) join() {
	a := v.session.anchors()
	v.session.begin("dev_sim")
	v.joinAt(a)
}

func (v *viewer) joinAt(a *protocol.Anchors) {
	s := v.host
	v.open, v.frames = true, nil
	if v.record != nil {
		data, _ := json.Marshal(protocol.Call{RequestID: "req_x", SessionID: one, Request: &protocol.OpenSession{Anchors: a, Tail: v.tail}})
		v.record(">", data)
	}
	held := a != nil && a.DeviceID == "dev_sim" && slices.ContainsFunc(s.log, func(e protocol.Event) bool {
		return e.Seq == a.PersistentLastSeq && e.ID == a.PersistentLastID
	})
	switch {
	case a != nil && a.StreamEpoch == s.live.StreamEpoch && a.StreamLastSeq >= s.passed:
		v.send(&protocol.ResyncFrame{SessionID: one, Mode: protocol.StreamResume})
		v.batch(after(s.ring, a.StreamLastSeq))
	case held:
		v.send(&protocol.ResyncFrame{SessionID: one, Mode: protocol.PersistentFallback})
		v.batch(after(s.log, a.PersistentLastSeq))
	default:
		v.send(&protocol.ResyncFrame{SessionID: one, Mode: protocol.FullReload})
		path := s.path(s.live.LeafID)
		v.batch(path[max(0, len(path)-v.tail):])
	}
	v.live()
}

func after(events []protocol.Event, seq protocol.Seq) []protocol.Event {
	i := slices.IndexFunc(events, func(e protocol.Event) bool { return e.Seq > seq })
	if i < 0 {
		return nil
	}
	return events[i:]
}

func (v *viewer) batch(events []protocol.Event) {
	for len(events) > 0 {
		n := min(3, len(events))
		v.send(&protocol.EventsFrame{SessionID: one, Events: events[:n]})
		events = events[n:]
	}
}

func (v *viewer) live() {
	v.send(&protocol.LiveFrame{SessionID: one, Live: v.host.live.Clone()})
}

func (v *viewer) send(f protocol.Frame) {
	data, err := protocol.MarshalFrame(f)
	if err != nil {
		v.host.t.Fatalf("a frame: %v", err)
	}
	switch f := f.(type) {
	case *protocol.EventsFrame:
		for _, e := range f.Events {
			if !e.IsTransient() {
				v.last = e.Seq
			}
		}
	case *protocol.LiveFrame:
		v.last = f.Live.PersistentLastSeq
	}
	v.frames = append(v.frames, sent{data, v.last, f.FrameName() == "live" || v.streaming()})
	if v.more != nil {
		select {
		case v.more <- struct{}{}:
		default:
		}
	}
}

// streaming reports whether the frames on their way end in the stream.
func (v *viewer) streaming() bool {
	n := len(v.frames)
	return n == 0 && v.session.streaming || n > 0 && v.frames[n-1].stream
}

// overrun lets the ring lose what it holds. A viewer whose host has sent only some
// of the frames that are on their way here goes on from the log.
func (s *sim) overrun(t *rapid.T) {
	s.ring, s.passed = nil, s.seq
	for _, v := range s.subs {
		if !v.open || len(v.frames) == 0 {
			continue
		}
		k := rapid.IntRange(0, len(v.frames)-1).Draw(t, "sent")
		if !v.frames[k].stream || slices.ContainsFunc(v.frames[k:], func(f sent) bool { return !f.stream }) {
			continue
		}
		v.frames = v.frames[:k+1]
		v.last = v.frames[k].last
		v.send(&protocol.ResyncFrame{SessionID: one, Mode: protocol.PersistentFallback})
		v.frames[k+1].stream = false
		v.batch(after(s.log, v.last))
		v.live()
	}
}

// read takes at most n of the frames that are on their way.
func (v *viewer) read(n int) {
	for ; n > 0 && len(v.frames) > 0; n-- {
		data := v.frames[0].data
		v.frames = v.frames[1:]
		if v.record != nil {
			v.record("<", data)
		}
		v.take(data)
	}
}

func (v *viewer) take(data []byte) {
	f, err := protocol.ParseFrame(data)
	if err != nil {
		v.host.t.Fatalf("a frame: %v", err)
	}
	u, ok, gap := v.session.take(f)
	if gap {
		v.host.t.Fatalf("%s sees a gap in %s", v.name, data)
	}
	if !ok {
		return
	}
	if u.Resync == protocol.FullReload {
		v.got = nil
	}
	for _, e := range u.Events {
		if !e.IsTransient() {
			v.got = append(v.got, e)
		}
	}
	v.screen.Apply(u, &v.session.Live)
}

// settle lets a viewer see all that there is.
func (v *viewer) settle() {
	if !v.open {
		v.join()
	}
	v.read(len(v.frames))
	for i := 0; ; i++ {
		asked := v.screen.Missing()
		if asked == nil {
			return
		}
		if i > 100 {
			v.host.t.Fatalf("%s asks for ever: %+v", v.name, asked)
		}
		page := v.host.page(asked)
		if v.record != nil {
			call, _ := json.Marshal(protocol.Call{RequestID: "req_x", SessionID: one, Request: asked})
			reply, _ := json.Marshal(protocol.Reply{RequestID: "req_x", Data: page})
			v.record(">", call)
			v.record("<", reply)
		}
		v.screen.Fill(asked, page)
	}
}

func (s *sim) viewer(name string, window, tail int) *viewer {
	v := &viewer{host: s, name: name, tail: tail, screen: NewProjection()}
	v.screen.want = window
	s.subs = append(s.subs, v)
	return v
}

// screenText is a screen as text.
func screenText(s Screen) string {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// act lets something happen in the session.
func (s *sim) act(t *rapid.T) {
	word := rapid.SampledFrom([]string{"a", "bc", "é\u2028", `"\`}).Draw(t, "word")
	running := len(s.live.Messages) > 0
	switch rapid.IntRange(0, 19).Draw(t, "what") {
	case 0, 1:
		if s.turn == "" {
			s.user(word)
			s.turn = protocol.TurnID(s.id("trn"))
			s.put(&protocol.RuntimeStart{})
			s.put(&protocol.TurnStart{TurnIndex: s.ids % 3})
		}
	case 2, 3:
		if s.turn != "" && !running {
			s.put(&protocol.MessageStart{EventID: protocol.EventID(s.id("evt")), ParentID: s.live.LeafID, Role: protocol.RoleAssistant, Model: "m"})
		}
	case 4, 5, 6:
		if running {
			s.put(&protocol.TextDelta{EventID: s.live.Messages[0].EventID, BlockIndex: 1, Delta: word})
		}
	case 7:
		if running {
			s.put(&protocol.ThinkingDelta{EventID: s.live.Messages[0].EventID, BlockIndex: 0, Delta: word})
		}
	case 8:
		if running {
			s.putAs(s.live.Messages[0].EventID, s.live.LeafID, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant,
				Content: []protocol.Block{protocol.Text(word)}, StopReason: protocol.StopEndTurn, Usage: &protocol.Usage{InputTokens: len(word), OutputTokens: 1}}})
		}
	case 9:
		if running {
			s.put(&protocol.MessageCancelled{EventID: s.live.Messages[0].EventID, Reason: "retry"})
			s.put(&protocol.Retry{Attempt: 1, MaxAttempts: 8, DelayMS: 5})
		}
	case 10:
		if s.turn != "" && s.call == "" && !running {
			s.call, s.result = s.id("call"), protocol.EventID(s.id("evt"))
			s.put(&protocol.ToolExecutionStart{EventID: s.result, ParentID: s.live.LeafID, ToolCallID: s.call, ToolName: "Bash", Args: json.RawMessage(`{}`)})
		}
	case 11:
		if s.call != "" && rapid.Bool().Draw(t, "step") {
			third := 1.0 / 3
			s.put(&protocol.ToolProcess{ToolCallID: s.call, ToolName: "Bash", Event: protocol.ProcessEvent{Version: 1, Percent: &third, Message: word, Status: protocol.ProcessRunning,
				OperationID: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "operation"), Payload: json.RawMessage(`{"n":1}`)}})
		} else if s.call != "" {
			s.put(&protocol.ToolExecutionUpdate{EventID: s.result, ToolCallID: s.call, Partial: word})
		}
	case 12:
		if s.call != "" {
			m := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: s.call, ToolName: "TodoWrite", Content: []protocol.Block{protocol.Text(word)}}
			m.Details, _ = json.Marshal(map[string]any{"todos": []Todo{{Content: word, Status: rapid.SampledFrom([]string{"pending", "completed"}).Draw(t, "status")}}})
			s.putAs(s.result, s.live.LeafID, &protocol.MessageBody{Message: m})
			s.call = ""
		}
	case 13:
		if s.turn != "" {
			if len(s.live.Permissions) == 0 {
				s.put(&protocol.PermissionRequest{PermissionID: protocol.PermissionID(s.id("prm")), ToolName: "Bash", Args: json.RawMessage(`{}`)})
			} else {
				s.put(&protocol.PermissionResolved{PermissionID: s.live.Permissions[0].PermissionID, Decision: "allow"})
			}
		}
	case 14:
		if s.turn != "" && !running && s.call == "" {
			s.put(&protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted})
			s.turn = ""
		}
	case 15:
		if s.turn == "" && len(s.log) > 0 {
			path := s.path(s.live.LeafID)
			if len(path) == 0 || rapid.Bool().Draw(t, "empty") {
				s.put(&protocol.Rewind{})
			} else {
				target := path[rapid.IntRange(0, len(path)-1).Draw(t, "target")].ID
				s.put(&protocol.Rewind{TargetEventID: &target})
			}
		}
	case 16:
		if s.turn == "" {
			var all []protocol.EventID
			for _, e := range s.log {
				if e.Class() == protocol.Conversation {
					all = append(all, e.ID)
				}
			}
			if len(all) > 0 {
				s.put(&protocol.Branch{LeafEventID: rapid.SampledFrom(all).Draw(t, "leaf")})
			}
		}
	case 17:
		s.put(&protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{{ID: protocol.ItemID(s.id("itm")), Content: []protocol.Block{protocol.Text(word)}}}, Paused: s.turn == ""})
	case 18:
		s.put(&protocol.SessionInfo{Changes: protocol.MetaChanges{Name: &word}})
	case 19:
		if s.turn == "" && s.live.LeafID != "" {
			s.put(&protocol.Compact{Summary: word, CompactedThrough: s.live.LeafID, Usage: &protocol.Usage{OutputTokens: 3}})
		}
	}
}

func TestWhateverWayItsUpdatesTookEveryClientShowsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t)
		first := s.viewer("the first", 5, 3)
		first.join()
		var others []*viewer
		for range rapid.IntRange(5, 150).Draw(t, "steps") {
			switch rapid.IntRange(0, 11).Draw(t, "step") {
			default:
				s.act(t)
			case 6, 7:
				if len(others) > 0 {
					v := rapid.SampledFrom(others).Draw(t, "reader")
					v.read(rapid.IntRange(0, 5).Draw(t, "frames"))
				}
			case 8:
				if len(others) < 4 {
					v := s.viewer(fmt.Sprintf("client %d", len(others)+1), 5, rapid.IntRange(0, 8).Draw(t, "tail"))
					v.join()
					others = append(others, v)
				}
			case 9:
				if len(others) > 0 { // what is on its way is lost
					v := rapid.SampledFrom(others).Draw(t, "lost")
					v.open, v.frames = false, nil
				}
			case 10:
				if len(others) > 0 {
					if v := rapid.SampledFrom(others).Draw(t, "back"); !v.open {
						v.join()
					}
				}
			case 11:
				if rapid.Bool().Draw(t, "restart") {
					s.epoch()
				} else {
					s.overrun(t)
				}
			}
			first.read(100)
		}
		first.settle()
		want := screenText(first.screen.Screen())
		path := s.path(s.live.LeafID)
		shown := first.screen.Screen()
		if n := min(5, len(path)); !slices.EqualFunc(shown.Events, path[len(path)-n:], sameEvent) || shown.More != (n < len(path)) {
			t.Fatalf("the first shows %d events (more: %v) of a path of %d", len(shown.Events), shown.More, len(path))
		}
		if a, b := text2(shown.Live), text2(s.live); a != b {
			t.Fatalf("the first's state is\n%s\nand the host's\n%s", a, b)
		}
		for _, v := range others {
			v.settle()
			if got := screenText(v.screen.Screen()); got != want {
				t.Fatalf("%s shows\n%s\nand the first\n%s", v.name, got, want)
			}
			if a, b := text2(v.session.Live), text2(s.live); a != b {
				t.Fatalf("%s: its state is\n%s\nand the host's\n%s", v.name, a, b)
			}
			v.check()
		}
		first.check()
	})
}

// check compares what a viewer was given with the log: after the path with which
// it began, every event once and in order.
func (v *viewer) check() {
	t := v.host.t
	for i := range v.got {
		if i > 0 && v.got[i].Seq <= v.got[i-1].Seq {
			t.Fatalf("%s was given seq %d behind %d", v.name, v.got[i].Seq, v.got[i-1].Seq)
		}
	}
	known := func(e protocol.Event) bool {
		return slices.ContainsFunc(v.host.log, func(l protocol.Event) bool { return sameEvent(e, l) })
	}
	for _, e := range v.got {
		if !known(e) {
			t.Fatalf("%s was given %s, which is not in the log", v.name, e.Raw())
		}
	}
	if v.name == "the first" && len(v.got) != len(v.host.log) {
		t.Fatalf("the first was given %d events of %d", len(v.got), len(v.host.log))
	}
}

func sameEvent(a, b protocol.Event) bool { return bytes.Equal(a.Raw(), b.Raw()) }

func text2(v any) string {
	data, _ := json.MarshalIndent(v, "", " ")
	return string(data)
}

func TestTheTailThatAClientJoinedWithIsTheSameWhereverItBreaks(t *testing.T) {
	for cut := range 9 {
		s := newSim(t)
		for i := range 20 {
			s.user(fmt.Sprint(i))
		}
		v := s.viewer("it", 20, 15)
		v.join()
		v.read(cut)
		v.open = false
		s.user("in between")
		v.settle()
		if got := v.screen.Screen(); len(got.Events) != 20 || !got.More || got.Events[19].ID != s.live.LeafID {
			t.Errorf("broken behind %d frames: %d events, more %v", cut, len(got.Events), got.More)
		}
	}
}
