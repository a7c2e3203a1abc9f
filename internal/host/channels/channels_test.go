package channels_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"scorel/internal/host/channels/senders"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func TestAnEventWakesAnIdleSession(t *testing.T) {
	w := hosttest.New(t, named("server:chat"), always)
	configure(w, entry("chat", channel, ""))
	e := listens(w, true)
	push(w, "chat", "The build is red.", "run", "42")
	if end := e.End(); end.Reason != protocol.EndCompleted {
		t.Errorf("the turn ends with %+v", end)
	}
	events, messages := injected(w, e.ID)
	if len(events) != 1 || len(messages) != 1 || events[0].MessageID != messages[0].ID || events[0].Channel != "chat" || string(events[0].Metadata) != `{"run":"42"}` {
		t.Fatalf("the log has %+v and %+v", events, messages)
	}
	if m, _ := messages[0].Message(); m.Meta.Channel != "chat" || m.PlainText() != "<channel source=\"chat\" run=\"42\">\nThe build is red.\n</channel>" {
		t.Errorf("the message is %q from %q", m.PlainText(), m.Meta.Channel)
	}
	if sent := w.LastRequest(); !strings.Contains(sent, "The build is red.") || !strings.Contains(sent, "The user has typed none of this") {
		t.Errorf("the model is sent %s", sent)
	}
}

func TestEventsWaitWhileATurnRunsAndComeTogether(t *testing.T) {
	s := named("server:chat")
	s.Overrides.Allow = []string{"Bash"}
	w := hosttest.New(t, s, `{"do":[{"text":"hi"}]}`, hosttest.Shell("run", "c1", "until test -e go; do sleep 0.01; done"), `{"if":{"result":""},"do":[{"text":"ran"}]}`, always)
	configure(w, entry("chat", channel, ""))
	e := listens(w, true)
	e.Send("run")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	push(w, "chat", "first")
	push(w, "chat", "second")
	w.Eventually("both are in the log", func() bool { events, _ := injected(w, e.ID); return len(events) == 2 })
	if _, messages := injected(w, e.ID); len(messages) != 0 {
		t.Errorf("a busy session is told %v", messages)
	}
	w.File("go", "")
	e.End()
	_, messages := injected(w, e.ID)
	if len(messages) != 1 {
		t.Fatalf("%d messages came", len(messages))
	}
	if m, _ := messages[0].Message(); len(m.Content) != 2 || !strings.Contains(m.Content[0].Text, "first") || !strings.Contains(m.Content[1].Text, "second") {
		t.Errorf("the message is %q", m.PlainText())
	}
}

// TestWhatNobodyCanBeAskedIsDeniedInATurnOfAChannel: the host waits for people in turns of
// theirs, and for nobody in one that a channel began.
func TestWhatNobodyCanBeAskedIsDeniedInATurnOfAChannel(t *testing.T) {
	w := hosttest.New(t, named("server:chat"), `{"do":[{"text":"hi"}]}`, hosttest.Shell("rm", "c1", "touch ran"), always)
	configure(w, entry("chat", channel, ""))
	e := listens(w, false)
	push(w, "chat", "rm")
	e.End()
	if got := e.LastResult().PlainText(); !strings.Contains(got, "Nobody can be asked here") {
		t.Errorf("the call ends with %q", got)
	}
	if w.Exists("ran") {
		t.Error("it was run")
	}
}

func TestACommandInAnEventIsText(t *testing.T) {
	w := hosttest.New(t, named("server:chat"), always)
	configure(w, entry("chat", channel, ""))
	e := listens(w, true)
	for _, text := range []string{"/compact", "!touch ran", "/mcp disable chat"} {
		e.Events = nil
		push(w, "chat", text)
		e.End()
		if sent := w.LastRequest(); !strings.Contains(sent, text) {
			t.Errorf("the model is not sent %q: %s", text, sent)
		}
	}
	if w.Exists("ran") {
		t.Error("a command was run")
	}
	for _, ev := range w.Log(e.ID) {
		if ev.Type == protocol.TypeCompact || ev.Type == protocol.TypeCustomMessage {
			t.Errorf("a command was run: %+v", ev)
		}
	}
}

func TestAFloodIsCutAndToldOnce(t *testing.T) {
	w := hosttest.New(t, named("server:chat"), always)
	configure(w, entry("chat", channel, ""))
	e := listens(w, true)
	for i := range 200 {
		push(w, "chat", fmt.Sprint("event ", i))
	}
	notice(e, "pushes more than 60 events in a minute")
	w.Eventually("60 came in", func() bool {
		_, messages := injected(w, e.ID)
		n := 0
		for _, ev := range messages {
			m, _ := ev.Message()
			n += len(m.Content)
		}
		return n == 60
	})
	e.Ping()
	told := 0
	for _, ev := range e.Events {
		if n, ok := ev.Body.(*protocol.Notice); ok && strings.Contains(n.Text, "pushes more than") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("people are told %d times", told)
	}
	w.File("push-chat", w.Read("push-chat")+"exit\n")
	notice(e, "140 events of the channel server:chat were left out.") // it pushes no more: nobody would count on
}

// TestNobodyListensToWhatNobodyHasNamed: neither a server that declares to be a channel, nor
// one that is refused.
func TestNobodyListensToWhatNobodyHasNamed(t *testing.T) {
	s := named("server:wrong", "server:gone", "plugin:chat@market")
	w := hosttest.New(t, s, always)
	configure(w, entry("chat", channel, `,"alwaysLoad":true`), entry("wrong", "", `,"alwaysLoad":true`))
	e := w.Begin(true)
	e.Send("hello")
	for _, want := range []string{
		"The channel server:wrong does not listen: its server does not declare the capability claude/channel.",
		"The channel server:gone does not listen: there is no MCP server of this name here",
		"The channel plugin:chat@market does not listen: no extension of this id has an MCP server",
	} {
		notice(e, want)
	}
	e.End()
	push(w, "chat", "listen to me")
	push(w, "wrong", "and to me")
	e.Say("go on")
	if events, _ := injected(w, e.ID); len(events) != 0 {
		t.Errorf("%+v came in", events)
	}
}

func TestChannelsOfTheConfigurationListenInAServingHostAlone(t *testing.T) {
	for _, serving := range []bool{false, true} {
		w := hosttest.New(t, hosttest.Setting{Attended: true, Serving: serving, Tables: "[channels]\nlisten = [\"server:chat\"]\n"}, always)
		configure(w, entry("chat", channel, `,"alwaysLoad":true`))
		e := w.Begin(true)
		e.Send("hello")
		if serving {
			notice(e, "The channel server:chat listens")
		}
		e.End()
		e.Ping()
		if !serving && slices.ContainsFunc(e.Events, func(ev protocol.Event) bool { return ev.Type == protocol.TypeNotice }) {
			t.Errorf("a host for one command listens:\n%s", e.Trace())
		}
	}
}

// waiting returns a world in which an event is in the log that no message has taken.
func waiting(t *testing.T) (w *hosttest.World, e *hosttest.Entry) {
	s := named("server:chat")
	s.Serving, s.Overrides.Allow = true, []string{"Bash"}
	w = hosttest.New(t, s, `{"do":[{"text":"hi"}]}`, hosttest.Shell("run", "c1", "until test -e go; do sleep 0.01; done"), always)
	configure(w, entry("chat", channel, ""))
	e = listens(w, true)
	e.Send("run")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	push(w, "chat", "remember me")
	w.Eventually("it is in the log", func() bool { events, _ := injected(w, e.ID); return len(events) == 1 })
	return w, e
}

func TestAHostThatIsKilledBetweenAnEventAndItsMessageLosesNeither(t *testing.T) {
	w, e := waiting(t)
	after := w.Killed()
	after.Eventually("the next host goes on with it", func() bool { _, messages := injected(after, e.ID); return len(messages) == 1 })
	after.Eventually("a turn has run", func() bool { return after.Host != nil && strings.Contains(after.LastRequest(), "remember me") })
	again := after.Killed()
	again.Open(again.Connect(true), e.ID).Say("go on")
	if events, messages := injected(again, e.ID); len(events) != 1 || len(messages) != 1 {
		t.Errorf("after another kill there are %d events in %d messages", len(events), len(messages))
	}
	w.File("go", "")
	e.End()
}

// TestADiskThatFailsBetweenAnEventAndItsMessage fails each write from the event on: what was
// taken in waits, and comes once.
func TestADiskThatFailsBetweenAnEventAndItsMessage(t *testing.T) {
	for n := 1; ; n++ {
		f := &hosttest.Failing{FS: disk.OS()}
		s := named("server:chat")
		s.Fs = f
		w := hosttest.New(t, s, always)
		configure(w, entry("chat", channel, ""))
		e := listens(w, true)
		f.Arm(n, syscall.EIO)
		push(w, "chat", "remember me")
		w.Eventually("it has come in or was refused", func() bool {
			_, fired := f.Count()
			_, messages := injected(w, e.ID)
			return fired || len(messages) > 0
		})
		e.Until(func(ev protocol.Event) bool {
			n, told := ev.Body.(*protocol.Notice)
			return ev.Type == protocol.TypeRuntimeEnd || told && (strings.Contains(n.Text, "was left out") || strings.Contains(n.Text, "waits for the next turn"))
		})
		_, fired := f.Count()
		f.Repair()
		e.Say("go on")
		events, messages := injected(w, e.ID)
		if len(messages) > len(events) || len(events) > 1 || len(events) == 1 && (len(messages) != 1 || events[0].MessageID != messages[0].ID) {
			t.Errorf("fault %d: %d events came in %d messages", n, len(events), len(messages))
		}
		if !fired {
			if n < 4 {
				t.Errorf("only %d writes could fail", n-1)
			}
			return
		}
	}
}

func TestAnUnknownSenderIsPairedWithACode(t *testing.T) {
	w := hosttest.New(t, named("server:chat"), always)
	configure(w, entry("chat", channel, ""))
	e := listens(w, true)
	push(w, "chat", "hello from a stranger", "user_id", "7", "user", "eve")
	told := notice(e, "Somebody unknown")
	code := told[len(told)-6:]
	if events, _ := injected(w, e.ID); len(events) != 0 || strings.Contains(told, "stranger") {
		t.Errorf("something was passed on: %v, %q", events, told)
	}
	file := filepath.Join(w.Home, ".scorel", "channels.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	store := senders.Store{FS: disk.OS(), File: file, Now: time.Now}
	if who, err := store.Pair(code); err != nil || who.ID != "7" {
		t.Fatalf("%+v, %v", who, err)
	}
	push(w, "chat", "it is me", "user_id", "7")
	e.End()
	push(w, "chat", "me too", "user_id", "8")
	notice(e, `unknown, "8"`)
	events, _ := injected(w, e.ID)
	if len(events) != 1 || events[0].ExternalID != "7" || !strings.Contains(events[0].Content, "it is me") {
		t.Errorf("%+v", events)
	}
}

func TestNobodyEntersWithANameThatOnlyLooksLikeOneThatIsPaired(t *testing.T) {
	w := hosttest.New(t, named("server:chat"), always)
	configure(w, entry("chat", channel, ""))
	e := listens(w, true)
	push(w, "chat", "hello", "user_id", "7")
	told := notice(e, "Somebody unknown")
	store := senders.Store{FS: disk.OS(), File: filepath.Join(w.Home, ".scorel", "channels.json"), Now: time.Now}
	if _, err := store.Pair(told[len(told)-6:]); err != nil {
		t.Fatal(err)
	}
	for _, id := range []any{"7\u200b", "\u200b", " ", 8} {
		write(w, "chat", "notifications/claude/channel", map[string]any{"content": "a stranger", "meta": map[string]any{"user_id": id}})
	}
	notice(e, "What the channel server:chat has pushed was left out")
	push(w, "chat", "it is me", "user_id", "7")
	e.End()
	if events, _ := injected(w, e.ID); len(events) != 1 || !strings.Contains(events[0].Content, "it is me") {
		t.Errorf("%+v", events)
	}
}

func TestAServerThatPairsTellsTheSenderAndNotThePeople(t *testing.T) {
	w := hosttest.New(t, named("server:chat"), always)
	configure(w, entry("chat", pairs, ""))
	e := listens(w, true)
	push(w, "chat", "hello", "user_id", "7", "chat_id", "room")
	told := notice(e, "Somebody unknown")
	_, open, err := senders.Store{FS: disk.OS(), File: filepath.Join(w.Home, ".scorel", "channels.json"), Now: time.Now}.List()
	if err != nil || len(open) != 1 {
		t.Fatalf("%+v %v", open, err)
	}
	if strings.Contains(told, open[0].Code) {
		t.Errorf("people are told %q", told)
	}
	got := w.Line("got-chat")
	if !strings.Contains(got, `"code":"`+open[0].Code+`"`) || !strings.Contains(got, `"chat_id":"room"`) {
		t.Errorf("the server is sent %s", got)
	}
}

// TestAnEventWithoutATextIsToldAndBeginsNoTurn: its frame would be empty.
func TestAnEventWithoutATextIsToldAndBeginsNoTurn(t *testing.T) {
	for why, params := range map[string]any{
		"its content is empty":        map[string]any{"content": " \n\u200b"},
		"its content is not text, or": map[string]any{"content": 7},
	} {
		w := hosttest.New(t, named("server:chat"), always)
		configure(w, entry("chat", channel, ""))
		e := listens(w, true)
		write(w, "chat", "notifications/claude/channel", params)
		notice(e, "What the channel server:chat has pushed was left out, and so may be what follows: "+why)
		push(w, "chat", "a text")
		e.End()
		if events, _ := injected(w, e.ID); len(events) != 1 || !strings.Contains(events[0].Content, "a text") {
			t.Errorf("%+v", events)
		}
	}
}
