package jobs

import (
	"cmp"
	"context"
	"strings"

	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// order is what a job is made with.
type order struct {
	meta    protocol.Meta
	text    string
	options *protocol.TurnOptions
	notices []string
}

// order makes it of a request.
func (js *Jobs) order(ctx context.Context, r *protocol.CreateJob) (*order, error) {
	t, err := js.lookup(ctx, r.WorkDir, r.Template)
	if err != nil {
		return nil, err
	}
	o := &order{options: &protocol.TurnOptions{}}
	if r.Options != nil {
		*o.options = *r.Options
	}
	if o.text, err = t.text(ctx, r.Args); err != nil {
		return nil, err
	}
	model := t.Model
	if model != "" && o.options.Model == "" {
		var note string
		if model, note = js.settings.CommandModel(t.Place, model); note != "" {
			o.notices = append(o.notices, note)
		}
	}
	allow, note := settings.Granted(t.Template, "a job template")
	if note != "" {
		o.notices = append(o.notices, note)
	}
	o.options.Allow = append(o.options.Allow[:len(o.options.Allow):len(o.options.Allow)], allow...)
	o.meta = protocol.Meta{WorkDir: r.WorkDir, Name: nameOf(t.Name, r.Args), Model: cmp.Or(o.options.Model, model), ThinkingLevel: o.options.Thinking,
		Job: &protocol.JobMeta{Template: t.Name, State: protocol.JobWorking}}
	return o, nil
}

// nameOf is what a job is called: its template, and the first words of what it is about.
func nameOf(template, args string) string {
	if first := protocol.Title(args, ""); first != "" {
		template += ": " + first
	}
	return protocol.Title(template, "")
}

// Create makes a job. Where its prompt cannot be sent, there is no session afterwards.
func (js *Jobs) Create(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CreateJob) (*protocol.SessionSummary, error) {
	o, err := js.order(ctx, r)
	if err != nil {
		return nil, err
	}
	if _, err := js.library.CreateSession(ctx, by, id, &protocol.CreateSession{ProjectID: r.ProjectID, Meta: o.meta}); err != nil {
		return nil, err
	}
	sum, sent, err := js.send(ctx, by, id, o)
	switch {
	case err == nil:
		return sum, nil
	case sent:
		return nil, &failure.Acted{Err: err}
	}
	if _, left := js.library.DeleteSession(ctx, id); left != nil {
		pe := *failure.Of(err)
		pe.Message = strings.TrimSuffix(pe.Message, ".") + "; the session " + string(id) + " was made and has no prompt."
		return nil, &failure.Acted{Err: &pe}
	}
	return nil, err
}

// CreateAgain carries out a request that has made its session before a host was killed: the
// prompt is sent if it was not.
func (js *Jobs) CreateAgain(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CreateJob) (*protocol.SessionSummary, error) {
	s, err := js.sessions.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	said, err := hasMessage(ctx, s.Lane().Log().Index())
	if err != nil {
		js.sessions.Release(s)
		return nil, err
	}
	if job := s.Lane().Meta().Job; said || job == nil || job.State == protocol.JobDone || job.State == protocol.JobFailed {
		sum := s.Summary()
		js.sessions.Release(s)
		return &sum, nil
	}
	js.sessions.Release(s)
	o, err := js.order(ctx, r)
	if err != nil {
		return nil, err
	}
	sum, sent, err := js.send(ctx, by, id, o)
	if err != nil && sent {
		err = &failure.Acted{Err: err}
	}
	return sum, err
}

// send sends the prompt of a job; sent says of an error that the prompt may be stored.
func (js *Jobs) send(ctx context.Context, by lane.Caller, id protocol.SessionID, o *order) (sum *protocol.SessionSummary, sent bool, err error) {
	s, err := js.sessions.Acquire(ctx, id)
	if err != nil {
		return nil, false, err
	}
	defer js.sessions.Release(s)
	l := s.Lane()
	did, err := l.Send(ctx, by, lane.Message{Content: []protocol.Block{protocol.Text(o.text)}, Busy: lane.BusyReject, Options: o.options})
	if err != nil {
		said, serr := hasMessage(ctx, l.Log().Index())
		return nil, said || serr != nil, err
	}
	if did.Handled != "" { // no turn follows
		o.notices = append(o.notices, did.Handled+" has done all there was to do")
		if err := l.EndJob(ctx, l.Log().Index().Leaf(), protocol.JobDone); err != nil {
			return nil, true, err
		}
	}
	made := s.Summary()
	made.Notices = o.notices
	return &made, true, nil
}
