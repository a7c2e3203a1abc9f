package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"scorel/internal/engine/tool/files"
	"scorel/internal/engine/tool/notebook"
	"scorel/protocol"
)

//go:embed notebookedit.md
var notebookEditText string

type notebookEditTool struct {
	files *files.Files
	seen  *files.Seen
}

// With implements [Needy].
func (t notebookEditTool) With(g Setting, s Session) Tool {
	t.files, t.seen = g.Files, s.Seen
	return t
}

type notebookEditInput struct {
	Path   string        `json:"path"`
	CellID string        `json:"cell_id"`
	Mode   string        `json:"edit_mode"`
	Kind   notebook.Kind `json:"cell_type"`
	Source string        `json:"new_source"`
}

// notebookEditInfo is what the tool means to others.
var notebookEditInfo = protocol.ToolInfo{Name: "NotebookEdit", Kind: protocol.ToolWrites, View: protocol.ViewChange, TitleField: "path", Rule: protocol.RuleFiles, RuleName: "Write", Tells: protocol.TellsFiles}

// notebookEditSchema is the JSON Schema of its input.
var notebookEditSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"path":{"type":"string","minLength":1,"description":"The notebook: absolute, relative to the workspace, or beginning with ~/."},` +
		`"cell_id":{"type":"string","minLength":1,"maxLength":200,"description":"The cell, by the id that Read shows; to insert, the one before the new cell, or nothing for the beginning."},` +
		`"edit_mode":{"type":"string","enum":["replace","insert","delete"],"description":"replace without it."},` +
		`"cell_type":{"type":"string","enum":["code","markdown","raw"],"description":"Of a new cell; of a replaced one, to change it."},` +
		`"new_source":{"type":"string","description":"The whole source of the cell."}},` +
		`"required":["path"],"additionalProperties":false}`)

// Spec implements [Tool].
func (notebookEditTool) Spec() Spec {
	return Spec{ToolInfo: notebookEditInfo, Deferred: true, Description: notebookEditText, Finishes: true, Schema: notebookEditSchema}
}

// isNotebook reports whether a path is that of a notebook.
func isNotebook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".ipynb") }

// Prepare implements [Tool].
func (t notebookEditTool) Prepare(ctx context.Context, call Call) (Prepared, error) {
	in, err := decode[notebookEditInput](call)
	switch {
	case err != nil:
		return nil, err
	case in.Mode == "insert" && in.Kind == "":
		return nil, errors.New("give the cell_type of the new cell: code, markdown or raw")
	case in.Mode != "insert" && in.CellID == "":
		return nil, errors.New("give the cell_id of the cell; Read shows the ids")
	case in.Mode == "delete" && (in.Source != "" || in.Kind != ""):
		return nil, errors.New("a cell is deleted without new_source and cell_type")
	}
	c, err := prepareChange(ctx, t.files, t.seen, notebookEditInfo.Name, in.Path)
	if err != nil {
		return nil, err
	}
	if !c.target.Exists() {
		defer c.Close()
		return nil, files.Missing(c.target, "Use Write to make a new file.")
	}
	n, err := notebook.Parse(c.before)
	if err == nil {
		c.after, c.said, err = in.apply(n)
	}
	if err == nil && len(c.after) > files.MaxEdit {
		err = fmt.Errorf("the file would have more than %d MiB", files.MaxEdit>>20)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", c.target.Path.Abs, err)
	}
	c.said = fmt.Sprintf("Changed %s: %s.", c.target.Path.Abs, c.said)
	c.whole = c.state.Whole
	c.store = func(_ *files.Files, data, old []byte) error { return c.target.Overwrite(data, old) }
	return c, nil
}

// apply returns the notebook as it is then, and what was done.
func (in notebookEditInput) apply(n *notebook.Notebook) (data []byte, said string, err error) {
	switch in.Mode {
	case "insert":
		data, id, err := n.Insert(in.CellID, in.Kind, in.Source)
		return data, "a new cell, " + id, err
	case "delete":
		data, err = n.Delete(in.CellID)
		return data, "the cell " + in.CellID + " is gone", err
	}
	data, err = n.Replace(in.CellID, in.Kind, in.Source)
	return data, "the source of the cell " + in.CellID + "; what a code cell had put out is gone", err
}
