package host_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

const echo = `{"do":[{"call":"Bash","input":{"command":"echo one"}}]}`

// asksNobody says that a call of Bash was refused by the mode dontAsk.
func (e *entry) asksNobody() bool {
	e.w.t.Helper()
	m := e.lastResult()
	return m.IsError && strings.Contains(m.PlainText(), "dontAsk")
}

func TestEverybodySeesTheModeAndALaterHostKeepsIt(t *testing.T) {
	done := `{"do":[{"text":"done"}]}`
	w := newWorld(t, setting{attended: true}, echo, done, echo, done, echo, done, echo, done, echo, done)
	e := w.begin(false)
	other := w.open(w.connect(false), e.id)
	if other.s.Live.Mode != "" {
		t.Errorf("a mode that nobody set: %q", other.s.Live.Mode)
	}
	call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "dontAsk"})
	info := other.until(ofType(protocol.TypeSessionInfo))
	if b := info.Body.(*protocol.SessionInfo); b.Mode != "dontAsk" || info.Cause == nil || other.s.Live.Mode != "dontAsk" {
		t.Errorf("another client sees %+v, live %q", b, other.s.Live.Mode)
	}
	if late := w.open(w.connect(false), e.id); late.s.Live.Mode != "dontAsk" {
		t.Errorf("a newcomer sees %q", late.s.Live.Mode)
	}
	e.say("run")
	if !e.asksNobody() {
		t.Errorf("the mode does not count: %+v", e.lastResult())
	}
	w.restart()
	a := w.open(w.connect(false), e.id)
	if a.s.Live.Mode != "dontAsk" {
		t.Errorf("after a restart: %q", a.s.Live.Mode)
	}
	a.say("again")
	if !a.asksNobody() {
		t.Errorf("a later host judges under another mode: %+v", a.lastResult())
	}
	// What the caller chose for a host beats what was set before, and not what is set then.
	w.config.Overrides.Mode, w.config.Overrides.Allow = "default", []string{"Bash"}
	w.restart()
	b := w.open(w.connect(false), e.id)
	b.say("with the flag")
	if m := b.lastResult(); m.IsError || b.s.Live.Mode != "" {
		t.Errorf("the caller's mode does not count: %+v, live %q", m, b.s.Live.Mode)
	}
	call[*protocol.Done](t, b.c, b.id, &protocol.SetMode{Mode: "plan"})
	b.say("set then")
	if m := b.lastResult(); !m.IsError {
		t.Errorf("a mode that is set while the host runs does not count: %+v", m)
	}
	w.judged()
}

func TestAnImportBringsNoMode(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("hello")
	call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "acceptEdits"})
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	call[*protocol.Imported](t, e.c, id, &protocol.ImportSession{Blobs: []string{put(t, e.c, exported(t, e.c, e.id, "bundle"))}})
	if i := w.open(e.c, id); i.s.Live.Mode != "" {
		t.Errorf("it brings %q", i.s.Live.Mode)
	}
}

func TestTheModeOfAMessageCountsUntilAnotherIsSet(t *testing.T) {
	w := newWorld(t, setting{attended: true}, `{"if":{"user":"^run$"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"echo one"}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.begin(true)
	call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "dontAsk"})
	call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: text("run"), WhenBusy: "reject", Options: &protocol.TurnOptions{Mode: "default"}})
	q := e.asked(1) // although the session's mode asks nobody
	call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "dontAsk"})
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
	e.end()
	if !e.asksNobody() {
		t.Errorf("the mode that was set in the turn does not count: %+v", e.lastResult())
	}
	w.judged()
}
