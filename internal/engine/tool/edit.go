package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"scorel/protocol"
)

//go:embed edit.md
var editText string

type editTool struct{}

type editInput struct {
	Path  string        `json:"path"`
	Edits []replacement `json:"edits"`
}

// replacement is one exact replacement.
type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// editInfo is what the tool means to others.
var editInfo = protocol.ToolInfo{Name: "Edit", Aliases: []string{"MultiEdit"}, Kind: protocol.ToolWrites, View: protocol.ViewChange, TitleField: "path", Rule: protocol.RuleFiles, RuleName: "Write", Tells: protocol.TellsFiles, PiNames: []string{"edit"}}

// Spec implements [Tool].
func (editTool) Spec() Spec {
	return Spec{ToolInfo: editInfo, Description: editText, Finishes: true, Schema: json.RawMessage(
		`{"type":"object","properties":{` +
			`"path":{"type":"string","minLength":1,"description":"The file to change: absolute, relative to the workspace, or beginning with ~/."},` +
			`"edits":{"type":"array","minItems":1,"maxItems":100,"description":"The replacements, in order.","items":{"type":"object","properties":{` +
			`"old_string":{"type":"string","minLength":1,"description":"The exact text to replace."},` +
			`"new_string":{"type":"string","description":"The text to put there."},` +
			`"replace_all":{"type":"boolean","description":"Replace every occurrence; without it there must be exactly one."}},` +
			`"required":["old_string","new_string"],"additionalProperties":false}}},` +
			`"required":["path","edits"],"additionalProperties":false}`)}
}

// Prepare implements [Tool].
func (editTool) Prepare(ctx context.Context, env *Env, call Call) (Prepared, error) {
	in, err := decode[editInput](call)
	if err != nil {
		return nil, err
	}
	c, err := prepareChange(ctx, env, editInfo.Name, in.Path)
	if err != nil {
		return nil, err
	}
	if !c.target.exists() {
		defer c.Close()
		return nil, missing(c.target, "Use Write to make a new file.")
	}
	text, encode, err := decodeText(c.before)
	var n int
	if err == nil {
		text, n, err = replace(text, in.Edits)
	}
	if err == nil {
		c.after, err = encode(text)
	}
	if err == nil && len(c.after) > maxEdit {
		err = fmt.Errorf("the file would have more than %d MiB", maxEdit>>20)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", c.target.path.Abs, err)
	}
	c.whole = c.state.Whole
	c.store = func(_ *Files, data, old []byte) error { return c.target.overwrite(data, old) }
	c.said = fmt.Sprintf("Changed %s: %d replacement", c.target.path.Abs, n)
	if n != 1 {
		c.said += "s"
	}
	c.said += "."
	return c, nil
}
