package session_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/engine/session/history"
	"scorel/protocol"
	"scorel/protocol/display"
)

// replayed is the result of reading a log; each part has the bytes of its file in the archive.
type replayed struct {
	fold, context, display, markdown []byte
}

// beforeWindow is what requests are planned for, in tokens.
var beforeWindow = history.Window{Size: 24_000, System: 3_000, Tools: 5_000, MaxOutput: 4_000}

// damageNote begins what a model is told of damage to a log. The version before did not tell
// it (see CHANGELOG.md: "Damage to a log is found by checksums and reported before anything is
// sent"), so such messages are left out of the comparison.
const damageNote = "The log of this conversation is damaged here"

// maxTips is the most other ends of branches whose context is compared.
const maxTips = 8

// replay makes the parts of the whole log; errors are those of the log and of ctx.
func replay(ctx context.Context, index *session.Index) (replayed, error) {
	var r replayed
	events, err := all(index.EventsAfter(ctx, 0))
	if err != nil {
		return r, err
	}
	if r.fold, err = foldOf(ctx, index); err != nil {
		return r, err
	}
	if r.context, err = contextsOf(ctx, index, tipsOf(events, index.Leaf())); err != nil {
		return r, err
	}
	for _, e := range events {
		if err := line(&r.display, display.Of(e)); err != nil {
			return r, err
		}
	}
	header := index.Header()
	header.Meta = index.Meta()
	var md bytes.Buffer
	err = display.Markdown(&md, header, func(yield func(protocol.Event, error) bool) {
		path, err := index.Path(index.Leaf())
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		for _, id := range path {
			if !yield(index.Event(ctx, id)) {
				return
			}
		}
	})
	r.markdown = md.Bytes()
	return r, err
}

func all(events iter.Seq2[protocol.Event, error]) (list []protocol.Event, err error) {
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// findings writes what was found wrong with a log, a line each.
func findings(r health.Report) (out []byte) {
	for _, f := range r.Findings {
		out = fmt.Appendf(out, "%s at byte %d\n", f.Kind, f.Offset)
	}
	return out
}

// line appends v as a line of JSON.
func line(dst *[]byte, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	*dst = append(*dst, b.Bytes()...)
	return err
}

// tipsOf returns the active leaf, and after it the newest other ends of branches.
func tipsOf(events []protocol.Event, leaf protocol.EventID) []protocol.EventID {
	inner := map[protocol.EventID]bool{leaf: true}
	for _, e := range events {
		if !e.Control {
			inner[e.ParentID] = true
		}
	}
	tips := []protocol.EventID{leaf}
	for _, e := range slices.Backward(events) {
		if !e.Control && !inner[e.ID] && len(tips) <= maxTips {
			tips = append(tips, e.ID)
		}
	}
	return tips
}

// foldOf writes what the whole log folds to, a line each.
func foldOf(ctx context.Context, index *session.Index) (out []byte, err error) {
	leaf := index.Leaf()
	path, err := index.Path(leaf)
	if err != nil {
		return nil, err
	}
	labels, err := index.Labels(ctx)
	if err != nil {
		return nil, err
	}
	prompt, err := index.FirstPrompt(ctx)
	if err != nil {
		return nil, err
	}
	todos, err := index.Todos(ctx, leaf)
	if err != nil {
		return nil, err
	}
	b, err := history.New(history.Config{Log: index})
	if err != nil {
		return nil, err
	}
	state, err := b.State(ctx, leaf)
	if err != nil {
		return nil, err
	}
	controls, err := all(index.Controls(ctx, leaf, protocol.TypeInstructionSnapshot, protocol.TypeContextCut, protocol.TypeSkillIndexSnapshot,
		protocol.TypeSkillIndexDelta, protocol.TypeSessionInfo, protocol.TypePermissionDecision, protocol.TypeFileSnapshot, protocol.TypeCustom))
	if err != nil {
		return nil, err
	}
	onPath := []protocol.EventID{}
	for _, e := range controls {
		onPath = append(onPath, e.ID)
	}
	queues := map[protocol.QueueName]*protocol.QueueUpdate{}
	for e, err := range index.OfType(ctx, protocol.TypeQueueUpdate) {
		if err != nil {
			return nil, err
		}
		if q, ok := e.Body.(*protocol.QueueUpdate); ok {
			queues[q.Queue] = q
		}
	}
	for _, part := range []struct {
		Name  string `json:"name"`
		Value any    `json:"value"`
	}{
		{"header", index.Header()}, {"meta", index.Meta()}, {"leaf", leaf}, {"path", path}, {"controls", onPath},
		{"events", index.Len()}, {"lastSeq", index.LastSeq()}, {"lastID", index.LastID()}, {"labels", labels}, {"usage", index.Usage()},
		{"firstPrompt", prompt}, {"todos", todos}, {"dir", state.Dir}, {"files", state.Files}, {"queues", queues}, {"gaps", index.Gaps()},
	} {
		if err := line(&out, part); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// contextsOf writes what a model is sent at each tip: the first whole, a message a line, of
// the others a hash.
func contextsOf(ctx context.Context, index *session.Index, tips []protocol.EventID) (out []byte, err error) {
	for i, tip := range tips {
		b, err := history.New(history.Config{Log: index})
		if err != nil {
			return nil, err
		}
		c, err := b.Build(ctx, tip, beforeWindow)
		if err != nil {
			return nil, err
		}
		var messages, told, summary []byte
		for _, m := range c.Messages {
			if strings.Contains(m.PlainText(), damageNote) {
				continue
			}
			if err := line(&messages, m); err != nil {
				return nil, err
			}
		}
		if err := line(&told, c.Told); err != nil {
			return nil, err
		}
		if cut, ok := history.Plan(c, beforeWindow, false); ok {
			if err := line(&summary, cut.Event("so far", nil)); err != nil {
				return nil, err
			}
			for _, m := range history.SummaryRequest(cut, "").Messages {
				if err := line(&summary, m); err != nil {
					return nil, err
				}
			}
		}
		out = fmt.Appendf(out, "at %s: %d messages %s, %d tokens, compact %q, told %s, summary %s\n",
			tip, bytes.Count(messages, []byte("\n")), sum(messages), c.Tokens, c.Compact, sum(told), sum(summary))
		if i == 0 {
			out = append(out, messages...)
		}
	}
	return out, nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
