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

func (q *Questions) dialog(ctx context.Context, apart bool, dialog protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	if err := dialog.CheckAsked(); err != nil {
		q.j.Report(dialog.Source + ": " + err.Error())
		return nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.life, cancel)()
	if !q.mayAsk() {
		return nil, false
	}
	id := protocol.NewUIID(q.rand)
	w := newQuestion(&protocol.UIRequest{UIID: id, Data: dialog}, apart)
	if nobody, err := q.put(w); err != nil || nobody {
		return nil, false
	}
	about := struct {
		ID   string `json:"id"`
		Kind string `json:"kind"`
	}{id, dialog.Kind}
	q.listeners.EmitEvent("ui_prompt_start", about)
	defer q.listeners.EmitEvent("ui_prompt_end", about)
	a := q.await(ctx, w, timeout)
	if a.Decision != protocol.DecisionAllow || string(a.Value) == "null" {
		return nil, false
	}
	return a.Value, true
}

// mayAsk reports whether somebody is there for a dialog, and there is room for it.
func (q *Questions) mayAsk() bool {
	q.j.Lock()
	defer q.j.Unlock()
	run := q.run.Asking()
	return (q.attended > 0 || run.Above.Attended()) && len(q.asked) < maxDialogs && !run.Stopping && !run.Closed
}
