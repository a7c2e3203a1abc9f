package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
	"scorel/protocol/fold"
)

// hung is a message event that hangs on another.
func hung(seq, parent protocol.Seq) protocol.Event {
	e := said(seq, fmt.Sprint("text ", seq))
	if parent > 0 {
		e.ParentID = eventID(parent)
	}
	e, err := e.Seal()
	if err != nil {
		panic(err)
	}
	return e
}

// shown takes frames and returns the screen.
func shown(s *Session, p *Projection, frames ...protocol.Frame) Screen {
	for _, f := range frames {
		if u, ok, _ := s.take(f); ok {
			p.Apply(u, &s.Live)
		}
	}
	return p.Screen()
}

func ids(s Screen) string {
	var out []string
	for _, e := range s.Events {
		out = append(out, strings.TrimLeft(string(e.ID), "evt_0"))
	}
	return strings.Join(out, " ")
}

func TestACatchingUpShowsThePersistentEventsAtOnceAndNothingOfWhatRan(t *testing.T) {
	s, p := &Session{}, NewProjection()
	s.begin("dev_a")
	start := protocol.NewEvent(&protocol.MessageStart{EventID: eventID(2), Role: protocol.RoleAssistant})
	start.Seq = 2
	before := shown(s, p, resync(protocol.FullReload), events(hung(1, 0)), alive("epo_1", 1, 1), events(start), events(delta(3), delta(4), delta(5)))
	if len(before.Live.Messages) != 1 || ids(before) != "1" {
		t.Errorf("before: %+v", before)
	}
	// The numbers of lost transient events come again.
	got := shown(s, p, resync(protocol.FullReload), resync(protocol.PersistentFallback), events(hung(2, 1), hung(3, 2)))
	if len(got.Live.Messages) != 0 || got.Live.Running || ids(got) != "1 2 3" || got.More {
		t.Errorf("while it catches up: %s, more %v, %+v", ids(got), got.More, got.Live)
	}
	if s.Live.LeafID != eventID(3) || s.Live.Running {
		t.Errorf("the session's state: %+v", s.Live)
	}
}

func TestOnlyTheNewestEventsAreHeldAndOlderOnesComeWhenTheyAreWanted(t *testing.T) {
	s, p := &Session{}, NewProjection()
	s.begin("dev_a")
	shown(s, p, resync(protocol.FullReload), &protocol.LiveFrame{SessionID: one})
	const all = 3 * maxWindow
	for seq := protocol.Seq(1); seq <= all; seq++ {
		shown(s, p, events(hung(seq, seq-1)))
	}
	if got := p.Screen(); len(got.Events) != DefaultWindow || !got.More || got.Events[0].ID != eventID(all-DefaultWindow+1) {
		t.Errorf("%d events, more %v", len(got.Events), got.More)
	}
	if p.Missing() != nil {
		t.Errorf("missing: %+v", p.Missing())
	}
	p.Older(50)
	asked := p.Missing()
	if asked == nil || asked.Limit != 50 || asked.BeforeID != eventID(all-DefaultWindow+1) {
		t.Fatalf("missing: %+v", asked)
	}
	var page protocol.Events
	for seq := protocol.Seq(all - DefaultWindow); len(page.Events) < 30; seq-- { // less than was asked for
		page.Events = append(page.Events, hung(seq, seq-1))
	}
	page.More = true
	p.Fill(asked, &page)
	p.Fill(asked, &page) // twice does no harm
	if got := p.Screen(); len(got.Events) != DefaultWindow+30 || p.Missing() == nil || p.Missing().Limit != 20 {
		t.Errorf("%d events, missing %+v", len(got.Events), p.Missing())
	}
	for i, e := range p.Screen().Events {
		if want := protocol.Seq(all - DefaultWindow - 30 + 1 + i); e.Seq != want {
			t.Fatalf("event %d has seq %d, not %d", i, e.Seq, want)
		}
	}
	p.Older(10 * maxWindow)
	if got := p.Missing(); got.Limit != maxWindow-DefaultWindow-30 {
		t.Errorf("missing: %+v", got)
	}
	p.Fill(p.Missing(), &protocol.Events{}) // there are none: the log has lost them
	if p.Screen().More || p.Missing() != nil {
		t.Errorf("behind the beginning: %+v", p.Missing())
	}
}

func TestAPathOfHugeEventsIsHeldUpToItsBytes(t *testing.T) {
	s, p := &Session{}, NewProjection()
	s.begin("dev_a")
	big := func(seq protocol.Seq) protocol.Event {
		e := said(seq, strings.Repeat("x", 3<<20))
		if seq > 1 {
			e.ParentID = eventID(seq - 1)
		}
		e, err := e.Seal()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	shown(s, p, resync(protocol.FullReload), &protocol.LiveFrame{SessionID: one})
	for seq := range protocol.Seq(15) {
		shown(s, p, events(big(seq+1)))
	}
	if got := p.Screen(); len(got.Events) != maxWindowBytes/(3<<20+300) || !got.More || p.Missing() != nil {
		t.Errorf("%d events, more %v, missing %+v", len(got.Events), got.More, p.Missing())
	}
	// One that joins holds the same.
	j, q := &Session{}, NewProjection()
	j.begin("dev_a")
	live := s.Live
	shown(j, q, resync(protocol.FullReload), &protocol.LiveFrame{SessionID: one, Live: live})
	for asked := q.Missing(); asked != nil; asked = q.Missing() {
		from := protocol.Seq(15)
		if asked.BeforeID != "" {
			_, _ = fmt.Sscanf(string(asked.BeforeID), "evt_%d", &from)
			from--
		}
		q.Fill(asked, &protocol.Events{Events: []protocol.Event{big(from)}, More: from > 1})
	}
	if ids(q.Screen()) != ids(p.Screen()) {
		t.Errorf("it shows %s, the other %s", ids(q.Screen()), ids(p.Screen()))
	}
}

func TestABranchToWhatAClientNeverSawIsAskedForByItsLeaf(t *testing.T) {
	s, p := &Session{}, NewProjection()
	s.begin("dev_a")
	branch := protocol.NewEvent(&protocol.Branch{LeafEventID: eventID(2)})
	branch.Seq, branch.ID = 9, eventID(9)
	shown(s, p, resync(protocol.FullReload), events(hung(1, 0), hung(7, 1)), alive("epo_1", 7, 7))
	got := shown(s, p, events(branch))
	asked := p.Missing()
	if ids(got) != "" || !got.More || asked == nil || asked.LeafID != eventID(2) {
		t.Fatalf("%q, more %v, missing %+v", ids(got), got.More, asked)
	}
	got = shown(s, p, events(hung(10, 2))) // it goes on before the page has come
	p.Fill(asked, &protocol.Events{Events: []protocol.Event{hung(2, 1), hung(1, 0)}})
	asked = p.Missing()
	if ids(got) != "10" || asked == nil || asked.BeforeID != eventID(10) {
		t.Fatalf("%q, missing %+v", ids(got), asked)
	}
	p.Fill(asked, &protocol.Events{Events: []protocol.Event{hung(2, 1), hung(1, 0)}})
	if got = p.Screen(); ids(got) != "1 2 10" || got.More {
		t.Errorf("%q, more %v", ids(got), got.More)
	}
	for i, leaf := range []protocol.Seq{3, 4} {
		branch.Body = &protocol.Branch{LeafEventID: eventID(leaf)}
		branch.Seq, branch.ID = protocol.Seq(11+i), eventID(protocol.Seq(11+i))
		shown(s, p, events(branch))
		if i == 0 {
			asked = p.Missing()
		}
	}
	p.Fill(asked, &protocol.Events{Events: []protocol.Event{hung(3, 1)}, More: true}) // it has gone elsewhere in between
	asked = p.Missing()
	if got = p.Screen(); ids(got) != "" || asked.LeafID != eventID(4) {
		t.Errorf("behind two branches: %q, missing %+v", ids(got), asked)
	}
	for range 2 {
		p.Fill(asked, &protocol.Events{Events: []protocol.Event{hung(4, 1)}, More: true})
	}
	if got = p.Screen(); ids(got) != "4" || !got.More {
		t.Errorf("a page that came twice: %q", ids(got))
	}
}

func TestLabelsAndTodosAreThoseOfWhatIsShown(t *testing.T) {
	s, p := &Session{}, NewProjection()
	s.begin("dev_a")
	label := func(seq, target protocol.Seq, text *string) protocol.Event {
		e := protocol.NewEvent(&protocol.Label{TargetEventID: eventID(target), Label: text})
		e.Seq, e.ID = seq, eventID(seq)
		return e
	}
	todos := func(seq, parent protocol.Seq, failed bool, list string) protocol.Event {
		e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: "TodoWrite", IsError: failed, Details: json.RawMessage(list)}})
		e.Seq, e.ID, e.ParentID = seq, eventID(seq), eventID(parent)
		return e
	}
	name := "here"
	got := shown(s, p, resync(protocol.FullReload), &protocol.LiveFrame{SessionID: one},
		events(hung(1, 0), label(2, 1, &name), todos(3, 1, false, `{"todos":[{"content":"a","status":"pending"}]}`), todos(4, 3, true, `{"todos":[]}`), label(5, 99, &name)))
	if len(got.Labels) != 1 || got.Labels[eventID(1)] != "here" || len(got.Todos) != 1 || got.Todos[0].Content != "a" {
		t.Errorf("%+v %+v", got.Labels, got.Todos)
	}
	got = shown(s, p, events(label(6, 1, nil), todos(7, 4, false, `{"todos":[{"content":"a","status":"completed"}]}`)))
	if len(got.Labels) != 0 || len(got.Todos) != 0 {
		t.Errorf("%+v %+v", got.Labels, got.Todos)
	}
	live := &protocol.LiveFrame{SessionID: one, Live: protocol.Live{ThroughSeq: 7, PersistentLastSeq: 7, PersistentLastID: eventID(7), LeafID: eventID(7),
		Labels: []protocol.LiveLabel{{TargetEventID: eventID(3), Label: "named before"}}}}
	if got = shown(s, p, resync(protocol.StreamResume), live); len(got.Labels) != 1 || got.Labels[eventID(3)] != "named before" {
		t.Errorf("of the state: %+v", got.Labels)
	}
	rewind := protocol.NewEvent(&protocol.Rewind{})
	target := eventID(4)
	rewind.Body.(*protocol.Rewind).TargetEventID = &target
	rewind.Seq, rewind.ID = 8, eventID(8)
	if got = shown(s, p, events(rewind)); len(got.Todos) != 1 || ids(got) != "1 3 4" {
		t.Errorf("behind a rewind: %q %+v", ids(got), got.Todos)
	}
}

func TestWhatIsDrawnOftenIsNotCopied(t *testing.T) {
	p := NewProjection()
	s := &Session{}
	s.Live.LeafID = "evt_0000000000000001"
	for i := range 500 {
		e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText("x")})
		e.ID, e.Seq = eventID(protocol.Seq(i+1)), protocol.Seq(i+1)
		fold.Apply(&s.Live, e)
		p.Apply(Update{Events: []protocol.Event{e}}, &s.Live)
	}
	shown := p.Screen()
	events, more := p.Path(), p.More()
	if len(events) != len(shown.Events) || more != shown.More || p.Live().LeafID != shown.Live.LeafID || events[len(events)-1].ID != eventID(500) {
		t.Errorf("%d events, more %v; the screen has %d, %v", len(events), more, len(shown.Events), shown.More)
	}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = p.Path(), p.More(), p.Live() }); n != 0 {
		t.Errorf("looking costs %v allocations", n)
	}
	start := protocol.NewEvent(&protocol.MessageStart{EventID: eventID(900), Role: protocol.RoleAssistant})
	start.Seq = 900
	p.Apply(Update{Events: []protocol.Event{start}}, &s.Live)
	seq := protocol.Seq(900)
	delta := &protocol.TextDelta{EventID: eventID(900), Delta: "word "}
	if n := testing.AllocsPerRun(1000, func() {
		seq++
		e := protocol.NewEvent(delta)
		e.Seq = seq
		p.event(e)
	}); n > 1 {
		t.Errorf("a piece of an answer costs %v allocations, however long the session is", n)
	}
}
