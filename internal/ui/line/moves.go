package line

import (
	"context"
	"errors"
	"fmt"
	"scorel/client"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/framed"
	"slices"
	"strconv"
)

const (
	maxRewindList = 20  // user messages that /rewind lists
	rewindPage    = 500 // events that it looks through
	maxTreeLines  = 200 // of /tree
)

// rewind lists the person's messages, or goes back to before one and returns its text
// back to be changed.
func (v *Session) rewind(arg string) {
	n := 0
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 {
			v.fail(errors.New("it is /rewind N, with a number that /rewind lists"))
			return
		}
	}
	leaf := v.live.LeafID
	v.enqueue(func(ctx context.Context) func() {
		page, err := client.Call[*protocol.Events](ctx, v.cfg.Client, v.id, &protocol.GetPath{Limit: rewindPage})
		if err != nil {
			return func() { v.fail(err) }
		}
		asked := userMessages(page.Events)
		if n == 0 {
			return func() { v.listMessages(asked) }
		}
		if n > len(asked) {
			return func() { v.fail(fmt.Errorf("there is no message %d; /rewind lists them", n)) }
		}
		e := asked[n-1]
		req := &protocol.RewindTo{ExpectedLeafID: &leaf}
		if e.ParentID != "" {
			req.TargetEventID = &e.ParentID
		}
		text := messageText(e)
		moved, err := client.Call[*protocol.Moved](ctx, v.cfg.Client, v.id, req)
		return func() {
			if err != nil {
				v.outcome(err, "")
				return
			}
			for _, s := range moved.Skipped {
				v.notify(display.Line(s.Path) + " was not restored: " + display.Line(s.Why))
			}
			if v.term != nil && len(v.term.edit.line) == 0 {
				v.term.edit.set(display.Text(text))
			} else {
				v.notify("it was: " + plain.FirstLine(text, maxTailWidth))
			}
		}
	})
}

func (v *Session) listMessages(asked []protocol.Event) {
	if len(asked) == 0 {
		v.notify("there is no message to go back to")
		return
	}
	v.screen.endStream()
	for i := min(len(asked), maxRewindList); i > 0; i-- {
		v.screen.line(plainStyle, fmt.Sprintf("  %d  %s", i, plain.FirstLine(messageText(asked[i-1]), 100)))
	}
	v.notify("/rewind N goes back to before a message, the newest is 1")
}

// userMessages returns the messages that began turns, newest first as they came.
func userMessages(events []protocol.Event) []protocol.Event {
	var out []protocol.Event
	for _, e := range events {
		b, ok := e.Body.(*protocol.MessageBody)
		if ok && b.Message.Role == protocol.RoleUser && (b.Message.Meta == nil || b.Message.Meta.Source != protocol.SourceSteer) {
			out = append(out, e)
		}
	}
	return out
}

func messageText(e protocol.Event) string {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok {
		return ""
	}
	return framed.Typed(b.Message.PlainText())
}

func (v *Session) branch(event string) {
	if event == "" {
		v.fail(errors.New("add an event: /branch EVENT, with an ID that /tree lists"))
		return
	}
	leaf := v.live.LeafID
	v.enqueue(func(ctx context.Context) func() {
		_, err := client.Call[*protocol.Moved](ctx, v.cfg.Client, v.id, &protocol.BranchTo{LeafEventID: protocol.EventID(event), ExpectedLeafID: &leaf})
		return func() { v.outcome(err, "") }
	})
}

func (v *Session) tree() {
	v.enqueue(func(ctx context.Context) func() {
		var lines []string
		left := 0 // older ones
		err := plain.TreePages(ctx, v.cfg.Client, v.id, func(page *protocol.Events) error {
			lines = append(lines, plain.Tree(page)...)
			if n := len(lines) - maxTreeLines; n > 0 {
				lines, left = slices.Delete(lines, 0, n), left+n
			}
			return nil
		})
		return func() {
			if err != nil {
				v.fail(err)
				return
			}
			v.screen.endStream()
			if left > 0 {
				v.notify(fmt.Sprintf("%d older events are left out; scorel sessions show --tree has them", left))
			}
			for _, l := range lines {
				v.screen.line(plainStyle, l)
			}
		}
	})
}
