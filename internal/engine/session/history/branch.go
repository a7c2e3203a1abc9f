package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// BranchRequest is the call that makes the summary of a branch that is left: of the
// events of the path to leaf after base, "" for all of them. It fits the window as
// [SummaryRequest] does; instructions may be empty. It is false where nothing stands
// there that a summary could tell of. What a compaction of the branch has summarised
// comes as that summary.
func BranchRequest(ctx context.Context, log Log, leaf, base protocol.EventID, w Window, instructions string) (model.Request, bool, error) {
	messages, older, err := branch(ctx, log, leaf, base, w.Size*maxKept)
	if err != nil {
		return model.Request{}, false, fmt.Errorf("read the branch to %s: %w", leaf, err)
	}
	if len(messages) == 0 || w.Summary() == 0 {
		return model.Request{}, false, nil
	}
	task := branchTask + summaryFormat
	if s := strings.TrimSpace(instructions); s != "" {
		task += "\nThe user asks for this in particular:\n" + s + "\n"
	}
	task += fmt.Sprintf("\nUse at most %d words.\n", max(100, w.Summary()/2))
	return summaryRequest(messages, older, "", task, w.Summary(), (w.Threshold()-w.Summary())*9/10), true, nil
}

// branch returns the messages of a part of a path, oldest first: the newest with at most so
// many bytes of text, and how many come before them.
func branch(ctx context.Context, log Log, leaf, base protocol.EventID, most int) (messages []protocol.Message, older int, err error) {
	kept := 0
	through := protocol.EventID("") // where what was compacted ends
	var summary *protocol.Message   // of that
	for ev, err := range log.Back(ctx, leaf) {
		if err != nil {
			return nil, 0, err
		}
		if ev.ID == base || summary != nil && ev.ID == through {
			break
		}
		var a answer
		switch act := handlerOf(ev.Type)(ev, &a); {
		case act == barrier && summary == nil:
			summary, through = summaryMessage(a.compact.Summary, a.compact.Details), a.compact.CompactedThrough
		case (act == include || act == mergePrev) && a.message != nil:
			if kept += size(a.message); kept > most && len(messages) > 0 {
				older++
				break
			}
			messages = append(messages, *a.message)
		}
	}
	if summary != nil {
		messages = append(messages, *summary)
	}
	slices.Reverse(messages)
	return messages, older, nil
}
