package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/tool/files"
	"scorel/internal/engine/tool/notebook"
	"scorel/protocol"
)

//go:embed edit.md
var editText string

type editTool struct {
	files *files.Files
	seen  *files.Seen
}

// With implements [Needy].
func (t editTool) With(g Setting, s Session) Tool {
	t.files, t.seen = g.Files, s.Seen
	return t
}

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

// editSchema is the JSON Schema of its input.
var editSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"path":{"type":"string","minLength":1,"description":"The file to change: absolute, relative to the workspace, or beginning with ~/."},` +
		`"edits":{"type":"array","minItems":1,"maxItems":100,"description":"The replacements, in order.","items":{"type":"object","properties":{` +
		`"old_string":{"type":"string","minLength":1,"description":"The exact text to replace."},` +
		`"new_string":{"type":"string","description":"The text to put there."},` +
		`"replace_all":{"type":"boolean","description":"Replace every occurrence; without it there must be exactly one."}},` +
		`"required":["old_string","new_string"],"additionalProperties":false}}},` +
		`"required":["path","edits"],"additionalProperties":false}`)

// Spec implements [Tool].
func (editTool) Spec() Spec {
	return Spec{ToolInfo: editInfo, Description: editText, Finishes: true, Schema: editSchema}
}

// Prepare implements [Tool].
func (t editTool) Prepare(ctx context.Context, call Call) (Prepared, error) {
	in, err := decode[editInput](call)
	if err != nil {
		return nil, err
	}
	c, err := prepareChange(ctx, t.files, t.seen, editInfo.Name, in.Path)
	if err != nil {
		return nil, err
	}
	if !c.target.Exists() {
		defer c.Close()
		return nil, files.Missing(c.target, "Use Write to make a new file.")
	}
	if _, err := notebook.Parse(c.before); err == nil && isNotebook(in.Path) {
		c.Close()
		return nil, fmt.Errorf("%s is a notebook; change its cells with NotebookEdit", c.target.Path.Abs)
	}
	text, encode, err := decodeText(c.before)
	var n int
	if err == nil {
		err = oneEncoding(text, in.Edits)
	}
	if err == nil {
		text, n, err = replace(text, in.Edits)
	}
	if err == nil {
		c.after, err = encode(text)
	}
	if err == nil && len(c.after) > files.MaxEdit {
		err = fmt.Errorf("the file would have more than %d MiB", files.MaxEdit>>20)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", c.target.Path.Abs, err)
	}
	c.whole = c.state.Whole
	c.store = func(_ *files.Files, data, old []byte) error { return c.target.Overwrite(data, old) }
	c.said = fmt.Sprintf("Changed %s: %d replacement", c.target.Path.Abs, n)
	if n != 1 {
		c.said += "s"
	}
	c.said += "."
	return c, nil
}

// oneEncoding refuses edits that would write UTF-8 into a text of another encoding, whose bytes
// stay as they are.
func oneEncoding(text string, edits []replacement) error {
	if utf8.ValidString(text) {
		return nil
	}
	ascii := func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 }
	for _, e := range edits {
		if ascii(e.Old) && !ascii(e.New) {
			return errors.New("it is not UTF-8 but in an older encoding such as Latin-1, and new_string has characters beyond ASCII, which would be written as UTF-8. Write them in ASCII, or convert the whole file with iconv first")
		}
	}
	return nil
}
