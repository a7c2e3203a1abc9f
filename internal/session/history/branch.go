package history

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"scorel/internal/model"
	"scorel/protocol"
)

// BranchRange gives what was said on the way to oldLeaf behind the point where it
// parts from the path of newLeaf, oldest first, as a summary of the branch is made
// from it. A compact on that way stands for what it replaced. It is empty when
// oldLeaf is on the path of newLeaf.
func BranchRange(ctx context.Context, log Log, oldLeaf, newLeaf protocol.EventID) ([]protocol.Message, error) {
	common, err := commonAncestor(ctx, log, oldLeaf, newLeaf)
	if err != nil {
		return nil, err
	}
	var list []Element
	var notes []note
	var body *protocol.Compact
	pos := 0
	for ev, err := range log.Back(ctx, oldLeaf) {
		if err != nil {
			return nil, fmt.Errorf("read the branch of %s: %w", oldLeaf, err)
		}
		if ev.ID == common || body != nil && ev.ID == body.CompactedThrough {
			break
		}
		var a answer
		switch act := handlerOf(ev.Type)(ev, &a); {
		case act == barrier && body == nil:
			body = a.compact
		case act == mergePrev && a.item != nil:
			if !comesBack(a.item.Kind) {
				notes = append(notes, note{pos, *a.item})
			}
		case act == include || act == mergePrev:
			list = append(list, Element{Event: ev.ID, Message: a.message, kind: a.kind, pos: pos})
		}
		pos--
	}
	if body != nil {
		list = append(list, Element{Event: "compact", Message: summaryMessage(body.Summary, body.Details), pos: posFront})
	}
	slices.Reverse(list)
	slices.Reverse(notes)
	var p passes
	p.run(list, notes)
	return p.out, nil
}

// commonAncestor walks both paths back in step; a parent is always older. It is ""
// when they share nothing.
func commonAncestor(ctx context.Context, log Log, a, b protocol.EventID) (protocol.EventID, error) {
	nextA, stopA := iter.Pull2(log.Back(ctx, a))
	defer stopA()
	nextB, stopB := iter.Pull2(log.Back(ctx, b))
	defer stopB()
	evA, errA, okA := nextA()
	evB, errB, okB := nextB()
	for okA && okB {
		switch {
		case errA != nil:
			return "", fmt.Errorf("read the path of %s: %w", a, errA)
		case errB != nil:
			return "", fmt.Errorf("read the path of %s: %w", b, errB)
		case evA.ID == evB.ID:
			return evA.ID, nil
		case evA.Seq > evB.Seq:
			evA, errA, okA = nextA()
		default:
			evB, errB, okB = nextB()
		}
	}
	return "", nil
}

// BranchSummaryRequest is the call that summarises a branch.
func BranchSummaryRequest(messages []protocol.Message, instructions string, w Window) model.Request {
	task := branchTask
	if instructions != "" {
		task += "\nThe user asks for this in particular:\n" + instructions + "\n"
	}
	return summaryRequest(messages, "", task, w.Summary(), (w.Threshold()-w.Summary())*9/10)
}
