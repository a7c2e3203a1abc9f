package question

import (
	"context"
	"encoding/json"
	"time"

	"scorel/protocol"
)

// maxDialogs bounds the questions of a session that are open at once; further dialogs
// of extensions get no answer.
const maxDialogs = 64

// Dialog puts a dialog of an extension ([protocol.Dialog.CheckAsked]) to the attached
// people and returns the first answer ([protocol.Dialog] says which form it has). It is
// false when nobody is attached who could answer, when timeout is over (0: there is none),
// when somebody closes the dialog, when ctx ends, and at the end of a run. A dialog that
// cannot be shown is reported.
func (q *Questions) Dialog(ctx context.Context, dialog protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	return q.dialog(ctx, false, dialog, timeout)
}

// DialogApart is Dialog for what belongs to no run: the dialog stays open at the end of one.
func (q *Questions) DialogApart(ctx context.Context, dialog protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	return q.dialog(ctx, true, dialog, timeout)
}

// Component shows people that an extension draws something in this session, in the dialog of
// that id, until it is closed as [Questions.Dialog] closes others. It reports false where it was
// not shown: only who watches this session itself can have it. opened is called when it is shown.
func (q *Questions) Component(ctx context.Context, id string, dialog protocol.Dialog, timeout time.Duration, opened func()) bool {
	w := newQuestion(&protocol.UIRequest{UIID: id, Data: dialog}, false)
	w.here = true
	shown := false
	q.show(ctx, w, dialog, timeout, func() { shown = true; opened() })
	return shown
}

// SetOwner tells clients who has the component of a dialog now; owner is called with the
// journal locked, and may not ask the lane for anything.
func (q *Questions) SetOwner(id string, owner func() *protocol.UIOwner) {
	q.j.Lock()
	defer q.j.Unlock()
	w := q.asked[id]
	if w == nil {
		return
	}
	b, ok := w.ask.(*protocol.UIRequest)
	if !ok {
		return
	}
	changed := *b // clients share the one before
	changed.Data.Owner = owner()
	w.ask = &changed
	if err := q.j.NotifyAnyway(protocol.HostClient, w.ask); err != nil {
		q.j.Report("tell who has a component: " + err.Error())
	}
}

func (q *Questions) dialog(ctx context.Context, apart bool, dialog protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	id := protocol.NewUIID(q.rand)
	return q.show(ctx, newQuestion(&protocol.UIRequest{UIID: id, Data: dialog}, apart), dialog, timeout, func() {})
}

// show puts a dialog to people, calls opened, and waits for the answer.
func (q *Questions) show(ctx context.Context, w *question, dialog protocol.Dialog, timeout time.Duration, opened func()) (json.RawMessage, bool) {
	if err := dialog.CheckAsked(); err != nil {
		q.j.Report(dialog.Source + ": " + err.Error())
		return nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.life, cancel)()
	if !q.mayAsk(w.here) {
		return nil, false
	}
	if nobody, err := q.put(w); err != nil || nobody {
		return nil, false
	}
	about := struct {
		ID   string `json:"id"`
		Kind string `json:"kind"`
	}{w.id, dialog.Kind}
	opened()
	q.listeners.EmitEvent("ui_prompt_start", about)
	defer q.listeners.EmitEvent("ui_prompt_end", about)
	a := q.await(ctx, w, timeout)
	if a.Decision != protocol.DecisionAllow || string(a.Value) == "null" {
		return nil, false
	}
	return a.Value, true
}

// mayAsk reports whether somebody is there for a dialog, with here in this session itself,
// and there is room for it.
func (q *Questions) mayAsk(here bool) bool {
	q.j.Lock()
	defer q.j.Unlock()
	run := q.run.Asking()
	return (q.attended > 0 || !here && run.Above.Attended()) && len(q.asked) < maxDialogs && !run.Stopping && !run.Closed
}
