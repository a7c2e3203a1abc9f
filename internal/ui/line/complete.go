package line

import (
	"context"
	"fmt"
	"scorel/client"
	"scorel/internal/ui/slash"
	"scorel/protocol"
	"scorel/protocol/display"
	"strings"
	"unicode/utf8"
)

// maxOffered bounds the completions that Tab shows.
const maxOffered = 20

// completeLine completes the command that is being typed, or its arguments.
func (v *Session) completeLine() {
	edit := v.term.edit
	text := string(edit.line)
	if edit.at != len(edit.line) || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return
	}
	name, args, hasArgs := strings.Cut(text[1:], " ")
	v.enqueue(func(ctx context.Context) func() {
		var items []string
		var err error
		if hasArgs {
			items, err = v.completeArgs(ctx, name, args)
		} else {
			items, err = v.completeName(ctx, name)
		}
		return func() {
			if err == nil && string(edit.line) == text { // else something else is typed by now
				v.offer(text, items)
			}
		}
	})
}

// completeName returns the commands that begin with a name, as lines.
func (v *Session) completeName(ctx context.Context, name string) ([]string, error) {
	list, err := client.Call[*protocol.CommandList](ctx, v.cfg.Client, v.id, &protocol.ListCommands{})
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(c string) {
		if strings.HasPrefix(c, name) {
			out = append(out, "/"+c)
		}
	}
	for _, c := range slash.For(slash.Lines) {
		add(c.Name)
	}
	for _, c := range slash.Beside(slash.Lines, list.Commands) {
		if c.Refused == "" {
			add(c.Name)
		}
	}
	return out, nil
}

func (v *Session) completeArgs(ctx context.Context, name, args string) ([]string, error) {
	list, err := client.Call[*protocol.CompletionList](ctx, v.cfg.Client, v.id, &protocol.CompleteCommand{Name: name, Args: args})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range list.Items {
		out = append(out, "/"+name+" "+c.Value)
	}
	return out, nil
}

// offer puts what all completions begin with into the line, and shows them when that
// is no more than what is typed.
func (v *Session) offer(text string, items []string) {
	if len(items) == 0 {
		return
	}
	common := items[0]
	for _, it := range items[1:] {
		for !strings.HasPrefix(it, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	if strings.HasPrefix(common, text) && common != text || len(items) == 1 {
		line := display.Line(common)
		if len(items) == 1 {
			line += " "
		}
		v.term.edit.set(line)
		return
	}
	more := ""
	if n := len(items) - maxOffered; n > 0 {
		items, more = items[:maxOffered], fmt.Sprintf(" and %d more", n)
	}
	v.notify(display.Line(strings.Join(items, "  ")) + more)
}
