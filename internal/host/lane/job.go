package lane

import (
	"context"
	"fmt"
	"strings"

	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// maxAnswerSearch bounds the events that are looked through for the last answer.
const maxAnswerSearch = 64

// isJob reports whether the session is a job whose state is another one. The journal is
// locked.
func (l *Lane) isJob(but protocol.JobState) bool {
	job := l.j.Meta().Job
	return job != nil && job.State != but
}

// putJobState stores the state of the job that the session is. The journal is locked.
func (l *Lane) putJobState(ctx context.Context, state protocol.JobState) (*publish.Ticket, error) {
	_, ticket, err := l.j.Append(ctx, &protocol.SessionInfo{Changes: protocol.MetaChanges{JobState: &state}}, journal.ByHost())
	if err != nil {
		return nil, fmt.Errorf("note the state of the job: %w", err)
	}
	return ticket, nil
}

// jobWorks notes, before a turn that asks a model begins, that the job works. The journal is
// locked.
func (l *Lane) jobWorks(ctx context.Context) error {
	if !l.isJob(protocol.JobWorking) {
		return nil
	}
	_, err := l.putJobState(ctx, protocol.JobWorking)
	return err
}

// jobTurnEnds notes what the end of a turn says of the job by itself; of one that is
// completed, that is for [Lane.EndJob]. The journal is locked.
func (l *Lane) jobTurnEnds(t *turn) {
	if t.command || t.foreign || t.summary != nil {
		return
	}
	state := protocol.JobFailed
	switch t.end.Reason {
	case protocol.EndCompleted:
		return
	case protocol.EndCancelled:
		state = protocol.JobWaiting
	}
	if !l.isJob(state) {
		return
	}
	if _, err := l.putJobState(context.Background(), state); err != nil {
		l.j.Report(err.Error())
	}
}

// LastAnswer returns the leaf and the last answer of the conversation; it is not complete
// where the model has not come to its end since somebody has said something.
func (l *Lane) LastAnswer(ctx context.Context) (leaf protocol.EventID, text string, complete bool, err error) {
	index := l.j.Index()
	leaf = index.Leaf()
	answer := protocol.NewestAnswer(func(yield func(protocol.Message) bool) {
		newest := true
		for id, n := leaf, 0; id != "" && n < maxAnswerSearch; n++ {
			var e protocol.Event
			if e, err = index.Event(ctx, id); err != nil {
				return
			}
			if m, ok := e.Message(); ok {
				if m.Role == protocol.RoleAssistant && newest {
					newest, complete = false, !m.Partial && m.StopReason == protocol.StopEndTurn
				}
				if m.Role == protocol.RoleUser || !yield(m) {
					return
				}
			}
			if id, err = index.Parent(id); err != nil {
				return
			}
		}
	})
	if err != nil {
		return leaf, "", false, err
	}
	return leaf, strings.TrimSpace(protocol.AnswerText(answer)), complete, nil
}

// EndJob stores the state of a job that has come to an end at a leaf. It does nothing where
// the session has gone on since. It returns when the state is durable.
func (l *Lane) EndJob(ctx context.Context, leaf protocol.EventID, state protocol.JobState) error {
	var ticket *publish.Ticket
	err := l.j.Write(ctx, func() (err error) {
		job := l.j.Meta().Job
		if job == nil || job.State != protocol.JobWorking || l.course.turn != nil || l.j.Index().Leaf() != leaf || state == protocol.JobWorking {
			return nil
		}
		if err := l.j.Writable(); err != nil {
			return err
		}
		ticket, err = l.putJobState(ctx, state)
		return err
	})
	if err != nil || ticket == nil {
		return err
	}
	return ticket.Wait(ctx)
}
