package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/engine/command"
	"scorel/internal/engine/tool"
	"scorel/internal/host/lane"
	"scorel/internal/host/settings"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// turnOf returns the options of the turn that a template begins: its model, and what it
// may do without a question. Notes say what of its fields does not count.
func (c templates) turnOf(t command.Template) (options *protocol.TurnOptions, notes []string) {
	given := c.options
	if given == nil {
		given = &protocol.TurnOptions{}
	}
	turn := *given
	if t.Model != "" && given.Model == "" {
		ref, note := c.cs.settings.CommandModel(t.Place, t.Model)
		if turn.Model = ref; note != "" {
			notes = append(notes, note)
		}
	}
	allow, note := settings.Granted(t, "a command")
	if note != "" {
		notes = append(notes, note)
	}
	turn.Allow = append(turn.Allow[:len(turn.Allow):len(turn.Allow)], allow...)
	if turn.Model == given.Model && len(allow) == 0 {
		return c.options, notes
	}
	return &turn, notes
}

// with returns what the turn of a template has of its own.
func (c templates) with(t command.Template) string {
	if t.Model != "" && c.options.Model != "" {
		return "with the model " + c.options.Model
	}
	return "with rules of its own"
}

// named returns the files that a template names as @path, as the tool that reads files
// shows them. Those that do not exist, or are not read without a question, are left to
// the model, which finds their names in the text.
func (c templates) named(ctx context.Context, config func(context.Context) (*lane.TurnConfig, error), body command.Body, args command.Args) (string, error) {
	names, err := body.Mentions(args)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range names {
		text, err := c.file(ctx, config, name)
		if err != nil {
			return "", err
		}
		if text == "" {
			continue
		}
		if out.Len()+len(text) > command.MaxText {
			break
		}
		out.WriteString("\n\n" + promptsafe.Text("file", fmt.Sprintf(" path=%q", name), promptsafe.Clean(text)))
	}
	return out.String(), nil
}

// file returns what a file holds, "" for one that is not there or not read unasked.
func (c templates) file(ctx context.Context, config func(context.Context) (*lane.TurnConfig, error), name string) (string, error) {
	if strings.Contains(name, ":") && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "./") {
		return "", nil // no file, or a stored result
	}
	turn, err := config(ctx)
	if err != nil {
		return "", err
	}
	input, err := json.Marshal(map[string]any{"path": name})
	if err != nil {
		return "", err
	}
	call, err := alone(tool.Reader(), turn.Setting, turn.WorkDir).Prepare(ctx, tool.Call{Input: input})
	if err != nil {
		return "", nil // there is no such file
	}
	defer call.Close()
	v, err := c.l.Judge(turn, c.options, call.Action())
	if err != nil || v.Decision != protocol.DecisionAllow {
		return "", err
	}
	result, err := call.Run(ctx, nil)
	if result.Full != nil {
		_ = result.Full.Close()
	}
	if err != nil {
		return "", nil
	}
	return protocol.Message{Content: result.Content}.PlainText(), nil
}
