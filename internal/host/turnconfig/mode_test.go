package turnconfig_test

import (
	"crypto/rand"
	"testing"
	"time"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const echo = `{"do":[{"call":"Bash","input":{"command":"echo one"}}]}`

func TestEverybodySeesTheModeAndALaterHostKeepsIt(t *testing.T) {
	done := `{"do":[{"text":"done"}]}`
	w := hosttest.New(t, hosttest.Setting{Attended: true}, echo, done, echo, done, echo, done, echo, done, echo, done)
	e := w.Begin(false)
	other := w.Open(w.Connect(false), e.ID)
	if other.S.Live.Mode != "" {
		t.Errorf("a mode that nobody set: %q", other.S.Live.Mode)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "dontAsk"})
	info := other.Until(hosttest.OfType(protocol.TypeSessionInfo))
	if b := info.Body.(*protocol.SessionInfo); b.Mode != "dontAsk" || info.Cause == nil || other.S.Live.Mode != "dontAsk" {
		t.Errorf("another client sees %+v, live %q", b, other.S.Live.Mode)
	}
	if late := w.Open(w.Connect(false), e.ID); late.S.Live.Mode != "dontAsk" {
		t.Errorf("a newcomer sees %q", late.S.Live.Mode)
	}
	e.Say("run")
	if !e.AsksNobody() {
		t.Errorf("the mode does not count: %+v", e.LastResult())
	}
	w.Restart()
	a := w.Open(w.Connect(false), e.ID)
	if a.S.Live.Mode != "dontAsk" {
		t.Errorf("after a restart: %q", a.S.Live.Mode)
	}
	a.Say("again")
	if !a.AsksNobody() {
		t.Errorf("a later host judges under another mode: %+v", a.LastResult())
	}
	// What the caller chose for a host beats what was set before, and not what is set then.
	w.Config.Overrides.Mode, w.Config.Overrides.Allow = "default", []string{"Bash"}
	w.Restart()
	b := w.Open(w.Connect(false), e.ID)
	b.Say("with the flag")
	if m := b.LastResult(); m.IsError || b.S.Live.Mode != "" {
		t.Errorf("the caller's mode does not count: %+v, live %q", m, b.S.Live.Mode)
	}
	hosttest.Call[*protocol.Done](t, b.C, b.ID, &protocol.SetMode{Mode: "plan"})
	b.Say("set then")
	if m := b.LastResult(); !m.IsError {
		t.Errorf("a mode that is set while the host runs does not count: %+v", m)
	}
	w.Judged()
}

func TestAnImportBringsNoMode(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("hello")
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "acceptEdits"})
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	hosttest.Call[*protocol.Imported](t, e.C, id, &protocol.ImportSession{Blobs: []string{hosttest.Put(t, e.C, hosttest.Exported(t, e.C, e.ID, "bundle"))}})
	if i := w.Open(e.C, id); i.S.Live.Mode != "" {
		t.Errorf("it brings %q", i.S.Live.Mode)
	}
}

func TestTheModeOfAMessageCountsUntilAnotherIsSet(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"if":{"user":"^run$"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"echo one"}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "dontAsk"})
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("run"), WhenBusy: "reject", Options: &protocol.TurnOptions{Mode: "default"}})
	q := e.Asked(1) // although the session's mode asks nobody
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "dontAsk"})
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	e.End()
	if !e.AsksNobody() {
		t.Errorf("the mode that was set in the turn does not count: %+v", e.LastResult())
	}
	w.Judged()
}
