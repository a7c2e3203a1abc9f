package tool

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"scorel/internal/engine/tool/files"
	"scorel/internal/engine/tool/notebook"
	"scorel/protocol"
)

//go:embed write.md
var writeText string

type writeTool struct {
	files *files.Files
	seen  *files.Seen
}

// With implements [Needy].
func (t writeTool) With(g Setting, s Session) Tool {
	t.files, t.seen = g.Files, s.Seen
	return t
}

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// writeInfo is what the tool means to others.
var writeInfo = protocol.ToolInfo{Name: "Write", Kind: protocol.ToolWrites, View: protocol.ViewChange, TitleField: "path", Rule: protocol.RuleFiles, Tells: protocol.TellsFiles, PiNames: []string{"write"}}

// writeSchema is the JSON Schema of its input.
var writeSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"path":{"type":"string","minLength":1,"description":"The file to write: absolute, relative to the workspace, or beginning with ~/."},` +
		`"content":{"type":"string","description":"The whole new content of the file."}},` +
		`"required":["path","content"],"additionalProperties":false}`)

// Spec implements [Tool].
func (writeTool) Spec() Spec {
	return Spec{ToolInfo: writeInfo, Description: writeText, Finishes: true, Schema: writeSchema}
}

// Prepare implements [Tool].
func (t writeTool) Prepare(ctx context.Context, call Call) (Prepared, error) {
	in, err := decode[writeInput](call)
	if err != nil {
		return nil, err
	}
	c, err := prepareChange(ctx, t.files, t.seen, writeInfo.Name, in.Path)
	if err != nil {
		return nil, err
	}
	if c.target.Exists() && !c.state.Whole {
		c.Close()
		if _, err := notebook.Parse(c.before); err == nil && isNotebook(in.Path) {
			return nil, fmt.Errorf("%s is a notebook, of which you have seen the cells and not all that the file has. Change its cells with NotebookEdit", c.target.Path.Abs)
		}
		return nil, fmt.Errorf("%s exists and you have not read all of it. Read the whole file first (with full, if it is long), or change parts of it with Edit", c.target.Path.Abs)
	}
	c.after = matchEndings(c.before, []byte(in.Content))
	if len(c.after) > files.MaxEdit {
		c.Close()
		return nil, fmt.Errorf("the content has more than %d MiB", files.MaxEdit>>20)
	}
	c.whole, c.replaces, c.store = true, true, c.target.Put
	lines := countLines(c.after)
	if c.target.Exists() {
		c.said = fmt.Sprintf("Replaced the content of %s: %d lines.", c.target.Path.Abs, lines)
	} else {
		c.said = fmt.Sprintf("Wrote the new file %s: %d lines.", c.target.Path.Abs, lines)
	}
	return c, nil
}

// matchEndings returns a replacement the byte order mark and the CRLF line endings
// of what it replaces: Read shows neither, so a model does not write them.
func matchEndings(before, after []byte) []byte {
	if allCRLF(before) && !bytes.Contains(after, []byte("\r")) {
		after = bytes.ReplaceAll(after, []byte("\n"), []byte("\r\n"))
	}
	if bytes.HasPrefix(before, []byte(bom)) && !bytes.HasPrefix(after, []byte(bom)) {
		after = append([]byte(bom), after...)
	}
	return after
}

const bom = "\xef\xbb\xbf"

// allCRLF reports whether there are line endings and each is CRLF.
func allCRLF(data []byte) bool {
	n := bytes.Count(data, []byte("\n"))
	return n > 0 && n == bytes.Count(data, []byte("\r\n"))
}
