package lane

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scorel/internal/host/lane/journal"
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
		l.j.Report("take over the answer that the last host was in the middle of: " + err.Error())
	}
	if err := l.tasks.Recover(ctx, l.cfg.Kept.Lost); err != nil {
		l.j.Report("tell of the background commands of the last host: " + err.Error())
	}
}

func (l *Lane) recoverStep(ctx context.Context) error {
	if l.cfg.Kept.Step == nil {
		return nil
	}
	a, found, err := l.cfg.Kept.Step.Load()
	if errors.Is(err, partial.ErrDamaged) {
		return l.reportDamagedStep(ctx, err)
	}
	if err != nil || !found {
		return err
	}
	if len(a.Texts) == 0 || a.SessionID != l.ID() || l.j.Index().Has(a.EventID) {
		l.cfg.Kept.Step.Drop()
		return nil
	}
	var body protocol.Body
	if a.ParentID == l.j.Leaf() {
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
	if err := l.j.Force(ctx, body, journal.Author{Client: protocol.HostClient, ID: a.EventID}); err != nil {
		return err
	}
	l.j.Report("the last host stopped in the middle of an answer; what had come of it is kept")
	l.cfg.Kept.Step.Drop()
	return nil
}

// reportDamagedStep tells people and the model of an answer of which nothing can be read any
// more; its file is set aside first, so that it is told once.
func (l *Lane) reportDamagedStep(ctx context.Context, why error) error {
	file, err := l.cfg.Kept.Step.SetAside()
	if err != nil {
		return errors.Join(why, err)
	}
	l.j.Report("the answer that the last host was in the middle of cannot be read: " + why.Error())
	text := "The last host stopped in the middle of an answer, and what was kept of it is damaged: nothing of it can be shown. The file is " + file + "."
	return l.j.Force(ctx, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice,
		Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay, Content: text}}, journal.ByHost())
}

// Interrupted reports whether the newest message is an answer in the middle of which a host
// was killed.
func (l *Lane) Interrupted(ctx context.Context) bool {
	index := l.j.Index()
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
