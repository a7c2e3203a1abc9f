package line

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scorel/client"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/slash"
	"scorel/protocol"
	"scorel/protocol/display"
)

// handlers are what each command of line mode does, by its name in package slash.
func handlers() map[string]func(v *Session, args string) {
	return map[string]func(v *Session, args string){
		"branch":         (*Session).branch,
		"cancel":         (*Session).cancel,
		"compact":        (*Session).compact,
		"help":           func(v *Session, _ string) { v.help() },
		"memory":         (*Session).memory,
		"mode":           (*Session).mode,
		"model":          (*Session).model,
		"process":        (*Session).process,
		"queue":          (*Session).queue,
		"quit":           func(v *Session, _ string) { v.quit() },
		"reload":         func(v *Session, _ string) { v.reload() },
		"remote-control": (*Session).remoteControl,
		"rename":         (*Session).rename,
		"rewind":         (*Session).rewind,
		"skip": func(v *Session, _ string) {
			v.fail(errors.New("/skip is for a question of the model, and none is open"))
		},
		"steer":    (*Session).steer,
		"thinking": (*Session).thinking,
		"tree":     func(v *Session, _ string) { v.tree() },
	}
}

// commandOf splits a line that is a command. One that begins with two slashes is not.
func commandOf(text string) (name, args string, ok bool) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return "", "", false
	}
	name, args, _ = strings.Cut(text[1:], " ")
	return strings.TrimSpace(name), strings.TrimSpace(args), true
}

// command runs a command of line mode, or has the host run it.
func (v *Session) command(name, args string) {
	c := slash.Find(name)
	if c == nil || !c.Has(slash.Lines) {
		v.runCommand(name, args)
		return
	}
	if why := c.Excess(slash.Lines, name, args); why != "" {
		v.fail(errors.New(why))
		return
	}
	if name == c.Was {
		v.notify("/" + name + " is /" + c.Name + " now")
	}
	handlers()[c.Name](v, args)
}

// model, rename and thinking change the session; the event of the change tells everybody.
func (v *Session) model(name string) {
	v.change(name, "/model NAME; scorel models lists them", protocol.MetaChanges{Model: &name})
}

func (v *Session) rename(name string) {
	v.change(name, "/rename NAME", protocol.MetaChanges{Name: &name})
}

func (v *Session) thinking(level string) {
	v.change(level, "/thinking LEVEL: "+protocol.ThinkingLevelWords(), protocol.MetaChanges{ThinkingLevel: &level})
}

func (v *Session) change(value, usage string, changes protocol.MetaChanges) {
	if value == "" {
		v.fail(errors.New("it is " + usage))
		return
	}
	v.request("", &protocol.UpdateInfo{Changes: changes}) // the event tells everybody
}

func (v *Session) mode(name string) {
	if name == "" {
		v.fail(errors.New("it is /mode NAME: default, acceptEdits, plan, dontAsk or bypassPermissions"))
		return
	}
	v.request("the mode is "+display.Line(name), &protocol.SetMode{Mode: name})
}

// reload has the session's extensions loaded again.
func (v *Session) reload() {
	if v.live.Running {
		v.notify("extensions are loaded again after this step of the turn")
	}
	v.enqueue(func(ctx context.Context) func() {
		r, err := client.Call[*protocol.Reloaded](ctx, v.cfg.Client, v.id, &protocol.Reload{})
		return func() {
			if err != nil {
				v.outcome(err, "")
				return
			}
			v.notify(fmt.Sprintf("%s loaded; there are %s, %s, %s and %s", plain.Count(r.Extensions, "extension"), plain.Count(r.Skills, "skill"),
				plain.Count(r.Commands, "command"), plain.Count(r.Agents, "agent"), plain.Count(r.Hooks, "hook")))
			for _, p := range r.Problems {
				v.fail(errors.New(p))
			}
		}
	})
}

func (v *Session) compact(text string) {
	leaf := v.live.LeafID
	v.notify("compacting")
	v.enqueue(func(ctx context.Context) func() {
		c, err := client.Call[*protocol.Compacted](ctx, v.cfg.Client, v.id, &protocol.CompactSession{Instructions: text, ExpectedLeafID: &leaf})
		return func() {
			if err == nil && c.EventID == "" {
				v.notify("there is nothing to compact")
				return
			}
			v.outcome(err, "")
		}
	})
}
