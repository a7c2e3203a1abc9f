package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	maxRewindList = 20  // user messages that /rewind lists
	rewindPage    = 500 // events that it looks through
	maxTreeLines  = 200 // of /tree
)

const liveHelp = `/steer TEXT    put a message into the running turn
/queue         what waits; /queue drop N, /queue resume
/cancel        cancel the running turn
/rewind [N]    list your messages, or go back to before the Nth
/branch EVENT  go on from any event of /tree
/tree          all events, the active path marked
/process [CALL] how a call has gone, step by step
/compact [..]  summarise the older part of the conversation
/model NAME    another model from the next turn on
/mode NAME     default, acceptEdits, plan, dontAsk or bypassPermissions
/name TEXT     name the session
/memory [NOTE] the notes that sessions are told, or another one for this project
# TEXT         add a note to those of this project; ## TEXT to your own
/reload        load extensions again, with what has changed
/quit          detach; the session stays
//text, \#text send text that begins with a slash or #`

// liveCommand splits a line that is a command. One that begins with two slashes is
// not.
func liveCommand(text string) (name, rest string, ok bool) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return "", "", false
	}
	name, rest, _ = strings.Cut(text[1:], " ")
	return strings.TrimSpace(name), strings.TrimSpace(rest), true
}

// command carries out a command.
func (v *liveSession) command(ctx context.Context, name, rest string) {
	switch name {
	case "help":
		v.help()
	case "quit":
		v.leave()
	case "cancel":
		v.cancel(ctx)
	case "steer":
		v.steer(rest)
	case "queue":
		v.queue(rest)
	case "rewind":
		v.rewind(rest)
	case "branch":
		v.branch(rest)
	case "tree":
		v.tree()
	case "process":
		v.process(rest)
	case "compact":
		v.compact(rest)
	case "model":
		v.change(rest, "/model NAME; scorel models lists them", protocol.MetaChanges{Model: &rest})
	case "name":
		v.change(rest, "/name TEXT", protocol.MetaChanges{Name: &rest})
	case "mode":
		v.mode(rest)
	case "memory":
		v.memory(rest)
	case "reload":
		v.reload()
	case "skip":
		v.fail(errors.New("/skip is for a question of the model, and none is open"))
	default:
		v.runCommand(name, rest)
	}
}

// send sends a message: at once, or behind the running turn.
func (v *liveSession) send(text string) {
	v.queueText(text, func(ctx context.Context) func() {
		content, err := v.app.attach(ctx, v.link, v.dir, text, nil, nil)
		if err == nil {
			_, err = client.Call[*protocol.Sent](ctx, v.link.Client, v.id, &protocol.SendMessage{Content: content, WhenBusy: "followUp"})
		}
		return func() { v.kept(err, text) }
	})
}

// queueText has what was typed carried out, and remembers it until that is done.
func (v *liveSession) queueText(text string, j liveJob) {
	if v.queueJob(j) {
		v.sending = append(v.sending, text)
	}
}

// kept tells of an error and gives back what was typed.
func (v *liveSession) kept(err error, text string) {
	v.sending = v.sending[1:] // they are carried out in order
	if err == nil {
		return
	}
	v.fail(err)
	if v.term == nil {
		v.fail(fmt.Errorf("not sent: %s", text))
	} else if len(v.term.edit.line) == 0 {
		v.term.edit.set(text)
	} else {
		v.screen.line(dimStyle, "not sent: "+text)
	}
}

func (v *liveSession) steer(text string) {
	if text == "" {
		v.fail(errors.New("say what: /steer TEXT"))
		return
	}
	turn := v.live.TurnID
	v.queueText("/steer "+text, func(ctx context.Context) func() {
		content, err := v.app.attach(ctx, v.link, v.dir, text, nil, nil)
		if err == nil {
			_, err = client.Call[*protocol.Sent](ctx, v.link.Client, v.id, &protocol.Steer{TurnID: turn, Content: content})
		}
		return func() { v.kept(err, "/steer "+text) }
	})
}

func (v *liveSession) cancel(ctx context.Context) {
	if !v.live.Running {
		v.say("nothing runs")
		return
	}
	v.beside(ctx, &protocol.Cancel{TurnID: v.live.TurnID})
}

// queue lists what waits, drops one of it, or lets it go on.
func (v *liveSession) queue(rest string) {
	word, arg, _ := strings.Cut(rest, " ")
	switch word {
	case "":
		n := 0
		for _, q := range v.live.Queues {
			for _, it := range q.Items {
				n++
				v.screen.endStream()
				v.screen.line(plainStyle, fmt.Sprintf("  %d  %s  %s", n, q.Queue, firstLine(contentText(it.Content), 100)))
			}
			if q.Paused {
				v.say("the queue " + string(q.Queue) + " is paused; /queue resume goes on")
			}
		}
		if n == 0 {
			v.say("nothing waits")
		}
	case "resume":
		v.done("goes on", &protocol.ResumeQueue{})
	case "drop":
		v.drop(strings.TrimSpace(arg))
	default:
		v.fail(errors.New("it is /queue, /queue drop N, or /queue resume"))
	}
}

func (v *liveSession) drop(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		v.fail(errors.New("say which: /queue drop N, with a number of /queue"))
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
			v.queueJob(func(ctx context.Context) func() {
				_, err := client.Call[*protocol.Sent](ctx, v.link.Client, v.id, req)
				return func() { v.told(err, "dropped") }
			})
			return
		}
	}
	v.fail(fmt.Errorf("nothing waits as number %d; /queue lists what does", n))
}

// done carries out a request that gives nothing back.
func (v *liveSession) done(said string, req protocol.Request) {
	v.queueJob(func(ctx context.Context) func() {
		_, err := client.Call[*protocol.Done](ctx, v.link.Client, v.id, req)
		return func() { v.told(err, said) }
	})
}

// told tells what came of a request.
func (v *liveSession) told(err error, said string) {
	var pe *protocol.Error
	switch {
	case err == nil:
		if said != "" {
			v.say(said)
		}
	case errors.As(err, &pe) && pe.Code == protocol.CodeRuntimeBusy:
		v.fail(fmt.Errorf("%s (/cancel)", strings.TrimSuffix(err.Error(), ".")))
	default:
		v.fail(err)
	}
}

func (v *liveSession) change(value, usage string, changes protocol.MetaChanges) {
	if value == "" {
		v.fail(errors.New("it is " + usage))
		return
	}
	v.done("", &protocol.UpdateInfo{Changes: changes}) // the event tells everybody
}

func (v *liveSession) mode(name string) {
	if name == "" {
		v.fail(errors.New("it is /mode NAME: default, acceptEdits, plan, dontAsk or bypassPermissions"))
		return
	}
	v.done("the mode is "+display.Line(name), &protocol.SetMode{Mode: name})
}

// reload has the session's extensions loaded again.
func (v *liveSession) reload() {
	v.queueJob(func(ctx context.Context) func() {
		r, err := client.Call[*protocol.Reloaded](ctx, v.link.Client, v.id, &protocol.Reload{})
		return func() {
			if err != nil {
				v.told(err, "")
				return
			}
			v.say(fmt.Sprintf("%s loaded; there are %s, %s, %s and %s", plural(r.Extensions, "extension"), plural(r.Skills, "skill"),
				plural(r.Commands, "command"), plural(r.Agents, "agent"), plural(r.Hooks, "hook")))
			for _, p := range r.Problems {
				v.fail(errors.New(p))
			}
		}
	})
}

func (v *liveSession) compact(text string) {
	leaf := v.live.LeafID
	v.say("compacting")
	v.queueJob(func(ctx context.Context) func() {
		c, err := client.Call[*protocol.Compacted](ctx, v.link.Client, v.id, &protocol.CompactSession{Instructions: text, ExpectedLeafID: &leaf})
		return func() {
			if err == nil && c.EventID == "" {
				v.say("there is nothing to compact")
				return
			}
			v.told(err, "")
		}
	})
}

// rewind lists the person's messages, or goes back to before one and gives its text
// back to be changed.
func (v *liveSession) rewind(arg string) {
	n := 0
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 {
			v.fail(errors.New("it is /rewind N, with a number that /rewind lists"))
			return
		}
	}
	leaf := v.live.LeafID
	v.queueJob(func(ctx context.Context) func() {
		page, err := client.Call[*protocol.Events](ctx, v.link.Client, v.id, &protocol.GetPath{Limit: rewindPage})
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
		moved, err := client.Call[*protocol.Moved](ctx, v.link.Client, v.id, req)
		return func() {
			if err != nil {
				v.told(err, "")
				return
			}
			for _, s := range moved.Skipped {
				v.say(display.Line(s.Path) + " was not restored: " + display.Line(s.Why))
			}
			if v.term != nil && len(v.term.edit.line) == 0 {
				v.term.edit.set(display.Text(text))
			} else {
				v.say("it was: " + firstLine(text, maxTailWidth))
			}
		}
	})
}

func (v *liveSession) listMessages(asked []protocol.Event) {
	if len(asked) == 0 {
		v.say("there is no message to go back to")
		return
	}
	v.screen.endStream()
	for i := min(len(asked), maxRewindList); i > 0; i-- {
		v.screen.line(plainStyle, fmt.Sprintf("  %d  %s", i, firstLine(messageText(asked[i-1]), 100)))
	}
	v.say("/rewind N goes back to before a message, the newest is 1")
}

// userMessages gives the messages that began turns, newest first as they came.
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
	return b.Message.PlainText()
}

func (v *liveSession) branch(event string) {
	if event == "" {
		v.fail(errors.New("say where: /branch EVENT, with an id that /tree lists"))
		return
	}
	leaf := v.live.LeafID
	v.queueJob(func(ctx context.Context) func() {
		_, err := client.Call[*protocol.Moved](ctx, v.link.Client, v.id, &protocol.BranchTo{LeafEventID: protocol.EventID(event), ExpectedLeafID: &leaf})
		return func() { v.told(err, "") }
	})
}

func (v *liveSession) tree() {
	v.queueJob(func(ctx context.Context) func() {
		var lines []string
		left := 0 // older ones
		err := v.link.treePages(ctx, v.id, func(page *protocol.Events) error {
			lines = append(lines, treeLines(page)...)
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
				v.say(fmt.Sprintf("%d older events are left out; scorel sessions show --tree has them", left))
			}
			for _, l := range lines {
				v.screen.line(plainStyle, l)
			}
		}
	})
}
