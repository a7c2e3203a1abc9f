package lane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/host/lane/journal"
	"scorel/internal/host/partial"
	"scorel/protocol"
	"scorel/protocol/display"
)

// recover takes what an earlier host was killed in the middle of into the log: the text of
// an answer, under the id that was announced, why there is none, which calls had not begun,
// and that background commands are gone. The
// ids make sure that nothing is there twice, wherever this is stopped. What cannot be
// stored stays for the next host.
func (l *Lane) recover(ctx context.Context) {
	if readOnly, _ := l.cfg.Log.ReadOnly(); readOnly {
		return
	}
	before := l.j.Leaf()
	if err := l.recoverStep(ctx); err != nil {
		l.j.Report("take over the answer that the last host was in the middle of: " + err.Error())
	}
	if err := l.recoverTurn(ctx, l.j.Leaf() != before); err != nil {
		l.j.Report("tell of the turn that the last host was in the middle of: " + err.Error())
	}
	if err := l.recoverShells(ctx); err != nil {
		l.j.Report("tell of the commands of people that the last host was in the middle of: " + err.Error())
	}
	if err := l.tasks.Recover(ctx, l.cfg.Kept.Lost); err != nil {
		l.j.Report("tell of the background commands of the last host: " + err.Error())
	}
}

// recoverShells says of the commands of people that nobody knows how they went. That is in the
// log when it returns, so that who opens the session is told.
func (l *Lane) recoverShells(ctx context.Context) error {
	l.j.Lock()
	err := l.shells.AppendLost(ctx)
	l.j.Unlock()
	return errors.Join(err, l.j.Publisher().Flush(ctx))
}

func (l *Lane) recoverStep(ctx context.Context) error {
	if l.cfg.Kept.Step == nil {
		return nil
	}
	a, found, err := l.cfg.Kept.Step.Load()
	if a.EventID != "" && (a.SessionID != l.ID() || l.j.Index().Has(a.EventID)) {
		l.cfg.Kept.Step.Drop()
		return nil
	}
	if errors.Is(err, partial.ErrDamaged) {
		return l.reportDamagedStep(ctx, err)
	}
	if err != nil || !found {
		return err
	}
	if len(a.Texts) == 0 { // blanks alone
		l.cfg.Kept.Step.Drop()
		return nil
	}
	m := protocol.Message{Provider: a.Provider, Model: a.Model, ErrorMessage: protocol.HostStopped}
	for _, text := range a.Texts {
		m.Content = append(m.Content, protocol.Text(text))
	}
	if a.Cut {
		m.ErrorMessage += fmt.Sprintf(" Only its first %d bytes could be kept.", partial.MaxText)
	}
	if a.Damaged {
		m.ErrorMessage += " What was kept of the rest is damaged."
	}
	l.j.Lock()
	l.j.Owe(owedAnswer(a.EventID, a.ParentID, m))
	ticket, err := l.j.Pay(ctx)
	l.j.Unlock()
	if err = journal.WaitFor(ctx, ticket, err); err != nil {
		return err
	}
	l.j.Report("the last host stopped in the middle of an answer; what had come of it is kept")
	l.cfg.Kept.Step.Drop()
	return nil
}

// recoverTurn stores what the log does not say of a turn that the last host was in the middle
// of: that a call had not begun, and that the turn has no answer. Where a call had begun, that
// it has no result says so. With told, the half answer of the turn was taken over, or that it
// is damaged, and nothing is left to say.
func (l *Lane) recoverTurn(ctx context.Context, told bool) error {
	if l.cfg.Kept.Turn == nil {
		return nil
	}
	r, found, err := l.cfg.Kept.Turn.Load()
	if !found && err == nil {
		return nil
	}
	if err != nil { // a power cut leaves it empty
		l.j.Report("which turn the last host was in the middle of cannot be read: " + err.Error())
	}
	if told {
		l.cfg.Kept.Turn.Drop()
		return nil
	}
	why, calls, err := l.lostTurn(ctx, r)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if r.HasBegun(c.ID) {
			why = ""
			continue
		}
		m := protocol.ToolRefused(c.ID, c.Name, protocol.CallNotBegun, protocol.OutcomeNotRun)
		if err := l.j.Force(ctx, &protocol.MessageBody{Message: m}, journal.ByHost()); err != nil {
			return err
		}
	}
	if why != "" {
		m := protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{}, Provider: r.Provider, Model: r.Model,
			StopReason: protocol.StopError, Partial: true, ErrorMessage: why}
		if err := l.j.Force(ctx, &protocol.MessageBody{Message: m}, journal.ByHost()); err != nil {
			return err
		}
	}
	l.cfg.Kept.Turn.Drop()
	return nil
}

// lostTurn says what the model owes where the conversation ends, "" for nothing, and returns
// the calls that have no result there. A turn that is not on the active path owes nothing.
func (l *Lane) lostTurn(ctx context.Context, r partial.Running) (why string, calls []protocol.Block, err error) {
	index := l.j.Index()
	path, err := index.Path(index.Leaf())
	if err != nil || r.Leaf != "" && !slices.Contains(path, r.Leaf) {
		return "", nil, err
	}
	answered := map[string]bool{} // bounded by the calls of a step
	for e, err := range index.Back(ctx, index.Leaf()) {
		if err != nil {
			return "", nil, err
		}
		b, ok := e.Body.(*protocol.MessageBody)
		switch {
		case !ok:
		case b.Message.Role == protocol.RoleToolResult:
			answered[b.Message.ToolCallID] = true
		case b.Message.Role == protocol.RoleUser:
			return protocol.HostStoppedBefore, nil, nil
		case b.Message.Role == protocol.RoleAssistant:
			if calls = b.Message.Calls(); len(calls) > 0 {
				why = protocol.HostStoppedBefore
			} else if b.Message.Continued() { // the rest had been asked for
				why = protocol.HostStopped
			}
			return why, slices.DeleteFunc(calls, func(c protocol.Block) bool { return answered[c.ID] }), nil
		}
	}
	return "", nil, nil
}

// owedAnswer is what is left of an answer that was announced, and shown in part, and is not
// stored: a message, or, where the conversation has gone on elsewhere since, a note.
func owedAnswer(id, parent protocol.EventID, m protocol.Message) *journal.Owed {
	m.Role, m.StopReason, m.Partial = protocol.RoleAssistant, protocol.StopError, true // what it used nobody knows
	return &journal.Owed{By: journal.Author{Client: protocol.HostClient, ID: id}, Body: func(leaf protocol.EventID) protocol.Body {
		if parent == leaf {
			return &protocol.MessageBody{Message: m}
		}
		return &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay,
			Content: "An answer was not stored to its end, and the conversation has gone on since. It began:\n" + m.PlainText()}}
	}}
}

// oweAnswer keeps the text of an answer that could not be stored; its calls were not run.
// Where the host ends before it can be, the next one has what [partial.Step] kept.
func (l *Lane) oweAnswer(id, parent protocol.EventID, answer protocol.Message) {
	left := protocol.Message{Provider: answer.Provider, Model: answer.Model, ErrorMessage: protocol.NotStored}
	for _, b := range answer.Content {
		if b.Type == protocol.BlockText && strings.TrimSpace(b.Text) != "" {
			left.Content = append(left.Content, b)
		}
	}
	if len(left.Content) == 0 {
		return
	}
	l.j.Lock()
	defer l.j.Unlock()
	l.j.Owe(owedAnswer(id, parent, left))
}

// damagedAnswer begins the note about an answer of which nothing can be read.
const damagedAnswer = "The last host stopped in the middle of an answer, and what was kept of it is damaged: nothing of it can be shown. The file is "

// reportDamagedStep tells people and the model of an answer of which nothing can be read any
// more; its file is set aside first, so that it is told once.
func (l *Lane) reportDamagedStep(ctx context.Context, why error) error {
	file, err := l.cfg.Kept.Step.SetAside()
	if err != nil {
		return errors.Join(why, err)
	}
	l.j.Report("the answer that the last host was in the middle of cannot be read: " + why.Error())
	text := damagedAnswer + file + "."
	return l.j.Force(ctx, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice,
		Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay, Content: text}}, journal.ByHost())
}

// Interrupted says for people what a host was killed in the middle of, where the conversation
// has not gone on since: an answer, calls, and what ran beside them. It is empty otherwise, and
// while a turn runs.
func (l *Lane) Interrupted(ctx context.Context) string {
	if l.Conversing() {
		return ""
	}
	index := l.j.Index()
	answered := map[string]bool{} // bounded by the calls of a step
	var texts []string            // the newest first
	add := func(text string) {
		if text != "" && len(texts) < maxInterrupted {
			texts = append(texts, text)
		}
	}
	for e, err := range index.Back(ctx, index.Leaf()) {
		if err != nil {
			return ""
		}
		if text, ok := cutBeside(e); ok {
			add(text)
			continue
		}
		m, ok := e.Message()
		if ok && m.Role == protocol.RoleToolResult {
			answered[m.ToolCallID] = true
			continue
		}
		if !ok {
			continue
		}
		if m.Role == protocol.RoleAssistant && m.Partial && strings.HasPrefix(m.ErrorMessage, protocol.HostStopped) {
			add("The last answer is not complete, because the host stopped in the middle of it. Say \"go on\" to have the rest.")
		} else if m.IsFailure() && m.ErrorMessage == protocol.HostStoppedBefore {
			add(m.ErrorMessage)
		} else if m.Role == protocol.RoleAssistant && m.Partial && strings.HasPrefix(m.ErrorMessage, protocol.NotStored) {
			add("The last answer is not complete, because it could not be stored when it came. Say \"go on\" to have the rest.")
		} else if m.Role == protocol.RoleAssistant {
			add(cutCalls(slices.DeleteFunc(m.Calls(), func(c protocol.Block) bool { return answered[c.ID] })))
		}
		break
	}
	slices.Reverse(texts)
	return strings.Join(texts, " ")
}

// maxInterrupted is how many sentences say what a host was killed in the middle of, the newest.
const maxInterrupted = 8

// cutBeside says that a host was killed in the middle of what an event beside the conversation
// is about, "" where it was not; false for an event of the conversation.
func cutBeside(e protocol.Event) (text string, ok bool) {
	if b, ok := e.Body.(*protocol.HarnessItem); ok {
		if strings.HasPrefix(b.Item.Content, damagedAnswer) && b.Item.Origin == protocol.OriginSystem {
			text = b.Item.Content
		}
		var task protocol.TaskNotice
		if b.Item.Origin == protocol.OriginTool && json.Unmarshal(b.Item.Data, &task) == nil && task.State == protocol.TaskLost {
			text = "The background command " + display.Of(e).Title + "; it may have taken effect."
		}
		return text, true
	}
	b, ok := e.Body.(*protocol.CustomMessage)
	if !ok {
		return "", false
	}
	r, _, ok := protocol.ShellOf(b)
	if ok && r.Lost {
		text = "The host stopped while your command ran; it may have taken effect, and what it printed is lost: !" + display.Line(r.Command)
	}
	return text, ok
}

// maxNamedCalls is how many calls a sentence names.
const maxNamedCalls = 3

// cutCalls says that calls have no result; "" for none.
func cutCalls(calls []protocol.Block) string {
	var names []string
	for i, c := range calls {
		if i == maxNamedCalls {
			names = append(names, fmt.Sprintf("%d more", len(calls)-i))
			break
		}
		names = append(names, display.Line(c.Name)+" "+display.Summary(c.Name, c.Input))
	}
	if len(names) == 0 {
		return ""
	}
	return "The host stopped before the last call had a result; it may have taken effect: " + strings.Join(names, "; ") + ". Say \"go on\" to continue."
}
