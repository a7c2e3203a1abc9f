package tool

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool/files"
	"scorel/internal/engine/tool/notebook"
	"scorel/protocol"
)

//go:embed read.md
var readText string

const (
	readBuffer = 64 << 10
	sniffBytes = 8 << 10 // a NUL in them makes a file binary
	resultPath = "result:"
)

// bufferFor returns how large a buffer is for a file that has a size: most are smaller than
// readBuffer. Files of /proc and the like say that they are empty.
func bufferFor(size int64) int {
	if size < sniffBytes {
		return sniffBytes
	}
	return int(min(size, readBuffer))
}

type readTool struct {
	files   *files.Files
	seen    *files.Seen
	results Results
	blobs   Blobs
	window  int
}

// With implements [Needy].
func (t readTool) With(g Setting, s Session) Tool {
	t.files, t.seen, t.results, t.blobs, t.window = g.Files, s.Seen, s.Results, s.Blobs, g.Window
	return t
}

type readInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
	Full   bool   `json:"full"`
}

// readInfo is what the tool means to others.
var readInfo = protocol.ToolInfo{Name: "Read", Kind: protocol.ToolReads, View: protocol.ViewFile, TitleField: "path", Rule: protocol.RuleFiles, Tells: protocol.TellsFiles, PiNames: []string{"read"}}

// readSchema is the JSON Schema of its input.
var readSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"path":{"type":"string","minLength":1,"description":"The file: absolute, relative to the workspace, or beginning with ~/; or result:<toolCallId>."},` +
		`"offset":{"type":"integer","minimum":1,"description":"The first line to show; 1 without it."},` +
		`"limit":{"type":"integer","minimum":1,"description":"How many lines to show at most."},` +
		`"full":{"type":"boolean","description":"Show as much as possible at once."}},` +
		`"required":["path"],"additionalProperties":false}`)

// Spec implements [Tool].
func (readTool) Spec() Spec {
	return Spec{ToolInfo: readInfo, Preset: ReadOnly, Description: readText, Parallel: true, Schema: readSchema}
}

// Prepare implements [Tool].
func (t readTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[readInput](call)
	if err != nil {
		return nil, err
	}
	in.Offset = max(in.Offset, 1)
	if id, ok := strings.CutPrefix(in.Path, resultPath); ok {
		return &readCall{tool: t, in: in, result: id}, nil
	}
	at, err := t.files.Open(in.Path, false)
	if err != nil {
		return nil, err
	}
	c := &readCall{tool: t, in: in, target: at}
	switch {
	case !at.Exists():
		err = files.Missing(at, "")
	case at.Info.IsDir():
		err = fmt.Errorf("%s is a folder. List it with Glob (pattern \"*\", path %q)", at.Path.Abs, at.Path.Abs)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// readCall reads a file, or a stored result.
type readCall struct {
	tool   readTool
	in     readInput
	target *files.Target // nil for a stored result
	result string
}

// Action implements [Prepared].
func (c *readCall) Action() permission.Action {
	a := permission.Action{Tool: readInfo.Name, Kind: readInfo.Kind}
	if c.target == nil {
		a.Kind = permission.State // what the model was given before
	} else {
		a.Paths = []permission.Path{c.target.Path}
	}
	return a
}

// Snapshots implements [Prepared].
func (*readCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (c *readCall) Close() {
	if c.target != nil {
		c.target.Close()
	}
}

// budget returns the tokens that an answer may have.
func (c *readCall) budget() int {
	least := max(pageTokens, c.tool.window/100)
	if c.in.Full {
		return max(least, c.tool.window/10)
	}
	return least
}

func (c *readCall) ask() pageAsk {
	ask := pageAsk{offset: c.in.Offset, limit: c.in.Limit, tokens: c.budget(), drain: true}
	if ask.limit == 0 && !c.in.Full {
		ask.limit = pageLines
	}
	return ask
}

// Run implements [Prepared].
func (c *readCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	if c.target == nil {
		return c.runStored(ctx)
	}
	path, size := c.target.Path.Abs, c.target.Info.Size()
	hash := sha256.New()
	from := bufio.NewReaderSize(io.TeeReader(c.target.File, hash), bufferFor(size))
	head, err := from.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return Result{}, files.Explain(path, err)
	}
	if media := mediaType(head); media != "" {
		return c.runMedia(ctx, media, from)
	}
	if isNotebook(path) && size <= files.MaxEdit {
		data, err := io.ReadAll(from)
		if err != nil {
			return Result{}, files.Explain(path, err)
		}
		if n, err := notebook.Parse(data); err == nil {
			return c.runNotebook(ctx, n, hex.EncodeToString(hash.Sum(nil)))
		}
		from = bufio.NewReaderSize(bytes.NewReader(data), readBuffer) // as text
		head, _ = from.Peek(sniffBytes)
	}
	text, note, lossy := from, "", false
	if order := utf16Order(head); order != nil {
		_, _ = from.Discard(2)
		text = bufio.NewReaderSize(&utf16Reader{r: from, order: order}, readBuffer)
		note, lossy = "UTF-16", true
	} else if strings.IndexByte(string(head), 0) >= 0 {
		return Result{}, fmt.Errorf("%s is a binary file (%s, %d bytes) and cannot be shown as text. Inspect it with Bash, for example with file or xxd", path, binaryType(head), size)
	} else if strings.HasPrefix(string(head), bom) {
		_, _ = from.Discard(len(bom))
	}

	ask := c.ask()
	ask.drain = size <= files.MaxEdit
	p, err := readPage(ctx, text, ask)
	if err != nil {
		return Result{}, files.Explain(path, err)
	}
	r, err := c.show(path, p, note)
	if err != nil || !p.ended {
		return r, err
	}
	state := protocol.FileState{Path: path, SHA256: hex.EncodeToString(hash.Sum(nil)),
		Whole: p.first == 1 && p.last == p.total && !p.cut && !p.bad && !lossy}
	if !state.Whole && !p.cut && !p.bad && !lossy {
		state.From, state.To, state.Of = p.first, p.last, p.total
	}
	c.tool.seen.Note(state)
	r.Details = protocol.ToolDetails{Files: []protocol.FileState{state}}
	return r, nil
}

// runNotebook shows the cells of a notebook, as pages of text, with the pictures of their
// outputs on the first one. sum is that of the file.
func (c *readCall) runNotebook(ctx context.Context, n *notebook.Notebook, sum string) (Result, error) {
	path := c.target.Path.Abs
	text, pictures := n.Show()
	p, err := readPage(ctx, bufio.NewReaderSize(strings.NewReader(text), readBuffer), c.ask())
	if err != nil {
		return Result{}, files.Explain(path, err)
	}
	p.crlf = false
	r, err := c.show(path, p, "")
	if err != nil {
		return r, err
	}
	if p.first == 1 && c.tool.blobs != nil {
		for i, picture := range pictures {
			b, err := c.picture(ctx, picture)
			if err != nil {
				b = protocol.Text(fmt.Sprintf("[picture %d cannot be shown: %v]", i+1, err))
			}
			r.Content = append(r.Content, b)
		}
	}
	// The rest of the file is not shown as it is: NotebookEdit keeps it, Write would not.
	state := protocol.FileState{Path: path, SHA256: sum}
	c.tool.seen.Note(state)
	r.Details = protocol.ToolDetails{Files: []protocol.FileState{state}}
	return r, nil
}

// picture keeps a picture of a notebook as a model may have it.
func (c *readCall) picture(ctx context.Context, p notebook.Picture) (protocol.Block, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(p.Data)), ""))
	if err != nil {
		return protocol.Block{}, errors.New("it is not base64")
	}
	fitted, media, err := FitImage(data, p.Media)
	if err != nil {
		return protocol.Block{}, err
	}
	blob, err := c.tool.blobs.PutBlob(ctx, bytes.NewReader(fitted))
	if err != nil {
		return protocol.Block{}, err
	}
	return protocol.Block{Type: protocol.BlockImage, MediaType: media, Blob: blob}, nil
}

// show renders a page with what the reader must know about it.
func (c *readCall) show(name string, p page, encoding string) (Result, error) {
	if p.total == 0 {
		return textResult("[" + name + " is empty.]"), nil
	}
	if p.last < p.first {
		return Result{}, fmt.Errorf("%s has %d lines; offset %d is behind its end", name, p.total, c.in.Offset)
	}
	var notes []string
	switch {
	case !p.ended:
		notes = append(notes, fmt.Sprintf("Lines %d to %d; the file is too long to count or edit. Go on with offset %d.", p.first, p.last, p.last+1))
	case p.last < p.total:
		notes = append(notes, fmt.Sprintf("Lines %d to %d of %d. Go on with offset %d.", p.first, p.last, p.total, p.last+1))
	case p.first > 1:
		notes = append(notes, fmt.Sprintf("Lines %d to %d of %d.", p.first, p.last, p.total))
	}
	if p.cut {
		notes = append(notes, "Long lines are cut.")
	}
	if encoding != "" {
		notes = append(notes, "The file is "+encoding+".")
	}
	if p.bad {
		notes = append(notes, "Bytes that are not valid UTF-8 are shown as \uFFFD.")
	}
	if p.crlf {
		notes = append(notes, "Line endings are CRLF; Edit and Write keep them.")
	}
	body := p.body
	if len(notes) > 0 {
		body += "[" + strings.Join(notes, " ") + "]"
	}
	return textResult(strings.TrimSuffix(body, "\n")), nil
}

func (c *readCall) runStored(ctx context.Context) (Result, error) {
	if c.tool.results == nil {
		return Result{}, errors.New("there are no stored results here")
	}
	in, err := c.tool.results.StoredResult(ctx, c.result)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, fmt.Errorf("no call %q with a stored result is in this conversation", c.result)
	}
	if err != nil {
		return Result{}, fmt.Errorf("stored result of %s: %w", c.result, err)
	}
	defer in.Close()
	p, err := readPage(ctx, bufio.NewReaderSize(&wrapReader{r: in}, readBuffer), c.ask())
	if err != nil {
		return Result{}, fmt.Errorf("stored result of %s: %w", c.result, err)
	}
	p.crlf = false
	return c.show(resultPath+c.result, p, "")
}
