package lane

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scorel/internal/engine/background"
	"scorel/internal/engine/model"
	"scorel/internal/host/partial"
	"scorel/protocol"
)

// recover takes what an earlier host was killed in the middle of into the log: the text of
// an answer, under the id that was announced, and that background commands are gone. The
// ids make sure that nothing is there twice, wherever this is stopped. What cannot be
// stored stays for the next host.
func (l *Lane) recover(ctx context.Context) {
	if readOnly, _ := l.cfg.Log.ReadOnly(); readOnly {
		return
	}
	if err := l.recoverStep(ctx); err != nil {
		l.cfg.Report("take over the answer that the last host was in the middle of: "+err.Error(), nil)
	}
	if err := l.recoverTasks(ctx); err != nil {
		l.cfg.Report("tell of the background commands of the last host: "+err.Error(), nil)
	}
}

// enter appends an event of an id of its own and returns when it is durable.
func (l *Lane) enter(ctx context.Context, id protocol.EventID, body protocol.Body) error {
	l.mu.Lock()
	_, ticket, err := l.append(ctx, body, author{client: protocol.HostClient, id: id})
	l.mu.Unlock()
	return waitFor(ctx, ticket, err)
}

func (l *Lane) recoverStep(ctx context.Context) error {
	if l.cfg.Step == nil {
		return nil
	}
	a, found, err := l.cfg.Step.Load()
	if errors.Is(err, partial.ErrDamaged) {
		return l.tellDamagedStep(ctx, err)
	}
	if err != nil || !found {
		return err
	}
	if len(a.Texts) == 0 || a.SessionID != l.ID() || l.cfg.Log.Index().Has(a.EventID) {
		l.cfg.Step.Drop()
		return nil
	}
	var body protocol.Body
	if a.ParentID == l.leaf {
		m := protocol.Message{Role: protocol.RoleAssistant, Provider: a.Provider, Model: a.Model, StopReason: protocol.StopError,
			Partial: true, ErrorMessage: protocol.HostStopped} // what it used nobody knows
		for _, text := range a.Texts {
			m.Content = append(m.Content, protocol.Text(text))
		}
		if a.Cut {
			m.ErrorMessage += fmt.Sprintf(" Only its first %d bytes could be kept.", partial.MaxText)
		}
		if a.Damaged {
			m.ErrorMessage += " What was kept of the rest is damaged."
		}
		body = &protocol.MessageBody{Message: m}
	} else { // an older version has gone on with the conversation
		body = &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay,
			Content: "An earlier host stopped in the middle of an answer, and the conversation has gone on since. The answer began:\n" + strings.Join(a.Texts, "\n\n")}}
	}
	if err := l.enter(ctx, a.EventID, body); err != nil {
		return err
	}
	l.cfg.Report("the last host stopped in the middle of an answer; what had come of it is kept", nil)
	l.cfg.Step.Drop()
	return nil
}

// tellDamagedStep tells people and the model of an answer of which nothing can be read any
// more; its file is set aside first, so that it is told once.
func (l *Lane) tellDamagedStep(ctx context.Context, why error) error {
	file, err := l.cfg.Step.SetAside()
	if err != nil {
		return errors.Join(why, err)
	}
	l.cfg.Report("the answer that the last host was in the middle of cannot be read: "+why.Error(), nil)
	text := "The last host stopped in the middle of an answer, and what was kept of it is damaged: nothing of it can be shown. The file is " + file + "."
	return l.enter(ctx, protocol.NewEventID(l.cfg.Rand), &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice,
		Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay, Content: text}})
}

// recoverTasks tells of the background commands of which the log has no end.
func (l *Lane) recoverTasks(ctx context.Context) error {
	calls := map[string]string{}
	for _, lost := range l.cfg.Lost {
		calls[lost.TaskID] = lost.CallID
	}
	ended, err := l.endedTasks(ctx, calls)
	if err != nil {
		return err
	}
	for _, lost := range l.cfg.Lost {
		switch {
		case l.cfg.Log.Index().Has(lost.EventID): // it has been told
		case ended[lost.TaskID]:
			lost.Remove()
		default:
			if err := l.enter(ctx, lost.EventID, &protocol.HarnessItem{Item: background.LostItem(lost.TaskID, lost.Command.Command, lost.File, lost.Last)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// endedTasks says of which background commands the path to the leaf tells the end. Calls
// gives the call that started each.
func (l *Lane) endedTasks(ctx context.Context, calls map[string]string) (map[string]bool, error) {
	ended := map[string]bool{}
	if len(calls) == 0 {
		return ended, nil
	}
	left := len(calls)
	for e, err := range l.cfg.Log.Index().Back(ctx, l.cfg.Log.Index().Leaf()) {
		if err != nil {
			return nil, err
		}
		id, over := taskOf(e)
		if id == "" {
			continue
		}
		ended[id] = ended[id] || over
		if m, ok := e.Message(); ok && m.ToolCallID != "" && calls[id] == m.ToolCallID {
			if left--; left == 0 {
				break
			}
		}
	}
	return ended, nil
}

// settleOutputs removes the files of the background commands of which the log tells the
// end. It is called when nothing more is stored.
func (l *Lane) settleOutputs() {
	kept := l.tasks.Kept()
	calls := map[string]string{}
	for id, k := range kept {
		calls[id] = k.Call
	}
	ended, err := l.endedTasks(context.Background(), calls)
	if err != nil {
		l.cfg.Report("look for the ends of background commands: "+err.Error(), nil)
	}
	for id, k := range kept {
		if ended[id] {
			k.Keeper.End()
		} else {
			k.Keeper.Leave()
		}
	}
}

// keepStep tells the keeper of the running step what a run yields. It is called by the
// goroutine of the run, before the event is told.
func (l *Lane) keepStep(t *turn, body protocol.Body) {
	if l.cfg.Step == nil {
		return
	}
	switch b := body.(type) {
	case *protocol.TextDelta:
		l.cfg.Step.Add(b.BlockIndex, b.Delta)
	case *protocol.MessageStart:
		if b.Role == protocol.RoleAssistant {
			info := t.info(b.Model)
			l.cfg.Step.Begin(partial.Answer{SessionID: l.ID(), EventID: b.EventID, ParentID: b.ParentID, Provider: info.Provider, Model: info.ID})
		}
	case *protocol.MessageCancelled:
		l.cfg.Step.End()
	}
}

// info is that of the model of a turn that has the name.
func (t *turn) info(ref string) model.Info {
	info := t.setup.Model.Info()
	if f := t.setup.Fallback; f != nil && info.Ref != ref && f.Info().Ref == ref {
		return f.Info()
	}
	return info
}

// Interrupted says whether the newest message is an answer in the middle of which a host
// was killed.
func (l *Lane) Interrupted(ctx context.Context) bool {
	index := l.cfg.Log.Index()
	for e, err := range index.Back(ctx, index.Leaf()) {
		if err != nil {
			return false
		}
		if m, ok := e.Message(); ok {
			return m.Role == protocol.RoleAssistant && m.Partial && strings.HasPrefix(m.ErrorMessage, protocol.HostStopped)
		}
	}
	return false
}
