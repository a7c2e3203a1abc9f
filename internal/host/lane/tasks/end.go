package tasks

import (
	"context"
	"encoding/json"

	"scorel/internal/engine/background"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/partial"
	"scorel/protocol"
)

// Retell has the ends told again that the conversation does not know any more, after
// the leaf has moved or something was lost: of commands whose start is on the path to the
// leaf, and whose end was told on another, or never stored.
func (t *Tasks) Retell(ctx context.Context, leaf protocol.EventID) error {
	calls := t.set.Told()
	if len(calls) == 0 {
		return nil
	}
	known := map[string]bool{}
	for e, err := range t.j.Index().Back(ctx, leaf) {
		if err != nil {
			return err
		}
		id, ended := taskOf(e)
		if id == "" {
			continue
		}
		known[id] = known[id] || ended
		if m, ok := e.Message(); ok && calls[id] != "" && m.ToolCallID == calls[id] { // where it was started
			if !known[id] {
				t.set.Untell(id)
			}
			if delete(calls, id); len(calls) == 0 {
				return nil
			}
		}
	}
	return nil
}

// taskOf returns the background command that an event tells of, "" for none, and
// whether it tells of its end.
func taskOf(e protocol.Event) (id string, ended bool) {
	if b, ok := e.Body.(*protocol.HarnessItem); ok {
		var n protocol.TaskNotice
		if b.Item.Kind != protocol.ItemRuntimeNotice || b.Item.Origin != protocol.OriginTool || json.Unmarshal(b.Item.Data, &n) != nil {
			return "", false
		}
		return n.TaskID, n.State != "" && n.State != protocol.TaskRunning
	}
	m, ok := e.Message()
	if !ok || m.Role != protocol.RoleToolResult || len(m.Details) == 0 {
		return "", false
	}
	var d protocol.ToolDetails
	if json.Unmarshal(m.Details, &d) != nil {
		return "", false
	}
	return d.TaskID, d.ExitCode != nil
}

// ended reports of which commands the path to the leaf tells the end. Calls has the call
// that started each.
func (t *Tasks) ended(ctx context.Context, calls map[string]string) (map[string]bool, error) {
	ended := map[string]bool{}
	if len(calls) == 0 {
		return ended, nil
	}
	left := len(calls)
	for e, err := range t.j.Index().Back(ctx, t.j.Index().Leaf()) {
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

// Recover tells of the commands that the last host was killed with and of which the log
// has no end. The ids make sure that nothing is told twice, wherever this is stopped.
func (t *Tasks) Recover(ctx context.Context, killed []partial.Lost) error {
	calls := map[string]string{}
	for _, lost := range killed {
		calls[lost.TaskID] = lost.CallID
	}
	ended, err := t.ended(ctx, calls)
	if err != nil {
		return err
	}
	for _, lost := range killed {
		switch {
		case t.j.Index().Has(lost.EventID): // it has been told
		case ended[lost.TaskID]:
			lost.Remove()
		default:
			item := background.LostItem(lost.TaskID, lost.Command.Command, lost.File, lost.Last, lost.End)
			if err := t.j.Force(ctx, &protocol.HarnessItem{Item: item}, journal.Author{Client: protocol.HostClient, ID: lost.EventID}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close ends the commands. What they have to tell is still to be appended.
func (t *Tasks) Close() { t.set.Close() }

// Wait returns when they have ended.
func (t *Tasks) Wait() { t.set.Wait() }

// Settle removes the files of the commands of which the log tells the end. It is called
// when nothing more is stored.
func (t *Tasks) Settle() {
	kept := t.set.Kept()
	calls := map[string]string{}
	for id, k := range kept {
		calls[id] = k.Call
	}
	ended, err := t.ended(context.Background(), calls)
	if err != nil {
		t.j.Report("look for the ends of background commands: " + err.Error())
	}
	for id, k := range kept {
		if ended[id] {
			k.Keeper.End()
		} else {
			k.Keeper.Leave()
		}
	}
}

// Leave stops the writing of the files, for the session's next owner.
func (t *Tasks) Leave() {
	for _, k := range t.set.Kept() {
		k.Keeper.Leave()
	}
}
