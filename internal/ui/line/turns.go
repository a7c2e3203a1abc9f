package line

import (
	"context"
	"errors"
	"fmt"
	"scorel/client"
	"scorel/internal/ui/attachment"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
	"strconv"
	"strings"
)

// send sends a message: at once, or after the running turn.
func (v *Session) send(text string) {
	v.enqueueText(text, func(ctx context.Context) func() {
		content, err := v.content(ctx, text)
		if err == nil {
			_, err = client.Call[*protocol.Sent](ctx, v.cfg.Client, v.id, &protocol.SendMessage{Content: content, WhenBusy: "followUp"})
		}
		return func() { v.confirm(err, text) }
	})
}

func (v *Session) steer(text string) {
	if text == "" {
		v.fail(errors.New("add a text: /steer TEXT"))
		return
	}
	turn := v.live.TurnID
	v.enqueueText("/steer "+text, func(ctx context.Context) func() {
		content, err := v.content(ctx, text)
		if err == nil {
			_, err = client.Call[*protocol.Sent](ctx, v.cfg.Client, v.id, &protocol.Steer{TurnID: turn, Content: content})
		}
		return func() { v.confirm(err, "/steer "+text) }
	})
}

// queue lists what waits, drops one of it, or lets it go on.
func (v *Session) queue(rest string) {
	word, arg, _ := strings.Cut(rest, " ")
	switch word {
	case "":
		n := 0
		for _, q := range v.live.Queues {
			for _, it := range q.Items {
				n++
				v.screen.endStream()
				v.screen.line(plainStyle, fmt.Sprintf("  %d  %s  %s", n, q.Queue, plain.FirstLine(contentText(it.Content), 100)))
			}
			if q.Paused {
				v.notify("the queue " + string(q.Queue) + " is paused; /queue resume continues")
			}
		}
		if n == 0 {
			v.notify("nothing waits")
		}
	case "resume":
		v.request("goes on", &protocol.ResumeQueue{})
	case "drop":
		v.drop(strings.TrimSpace(arg))
	default:
		v.fail(errors.New("it is /queue, /queue drop N, or /queue resume"))
	}
}

func (v *Session) drop(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		v.fail(errors.New("add a number: /queue drop N, with a number of /queue"))
		return
	}
	at := 0
	for _, q := range v.live.Queues {
		for i := range q.Items {
			if at++; at != n {
				continue
			}
			items := append(append([]protocol.QueueItem{}, q.Items[:i]...), q.Items[i+1:]...)
			req := &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: items}
			v.enqueue(func(ctx context.Context) func() {
				_, err := client.Call[*protocol.Sent](ctx, v.cfg.Client, v.id, req)
				return func() { v.outcome(err, "dropped") }
			})
			return
		}
	}
	v.fail(fmt.Errorf("no message %d is queued; /queue lists them", n))
}

// cancel cancels the running turn.
func (v *Session) cancel(string) {
	if !v.live.Running {
		v.notify("nothing runs")
		return
	}
	v.sendNow(&protocol.Cancel{TurnID: v.live.TurnID})
}

// content makes the content of a message: the text, and the files that it names with @.
func (v *Session) content(ctx context.Context, text string) ([]protocol.Block, error) {
	from := attachment.From{Dir: v.cfg.Dir, Scorel: v.cfg.Scorel, Means: attachment.ByRule}
	blocks, notices, err := attachment.Content(ctx, v.cfg.Client, from, text)
	for _, n := range notices {
		fmt.Fprintln(v.cfg.Stderr, display.Line("scorel: "+n))
	}
	return blocks, err
}
