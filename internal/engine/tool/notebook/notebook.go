// Package notebook reads and changes Jupyter notebooks (nbformat 4). A change replaces the
// bytes of the cells that it is about and keeps all others of the file.
package notebook

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a notebook.
const (
	MaxCells = 5000
	maxText  = 20_000 // bytes shown of one output
	maxShown = 100    // outputs shown of one cell
	// MaxPictures is how many pictures of a notebook are shown.
	MaxPictures = 8
)

// Kind is what a cell holds.
type Kind string

// The kinds.
const (
	Code     Kind = "code"
	Markdown Kind = "markdown"
	Raw      Kind = "raw"
)

// span is a range of the file's bytes.
type span struct{ begin, end int }

// Cell is a cell as the file has it.
type Cell struct {
	ID     string // as it is named: its own, or cell-N
	Kind   Kind
	Source string

	outputs []output
	count   string // of the execution, "" for none
	at      span
	source  span // of the value; begin 0: there is none
	kind    span
	results span // of the outputs
	counted span // of the count
}

// output is one of a code cell.
type output struct {
	text    string
	picture []byte // base64, nil for none
	media   string
}

// Notebook is a file that was read.
type Notebook struct {
	Cells    []Cell
	Language string // "" where the file does not say

	data  []byte
	array span // of the cells, with their brackets
	minor int
}

// ErrNone is that a file is not a notebook of nbformat 4.
var ErrNone = errors.New("it is not a Jupyter notebook of nbformat 4")

// Parse reads a notebook. The data is not copied.
func Parse(data []byte) (*Notebook, error) {
	n := &Notebook{data: data}
	var format int
	body := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	shift := len(data) - len(body)
	err := members(body, shift, func(key string, value []byte, at span) error {
		switch key {
		case "nbformat":
			format, _ = strconv.Atoi(string(value))
		case "nbformat_minor":
			n.minor, _ = strconv.Atoi(string(value))
		case "metadata":
			var m struct {
				Info struct {
					Name string `json:"name"`
				} `json:"language_info"`
				Kernel struct {
					Language string `json:"language"`
				} `json:"kernelspec"`
			}
			_ = json.Unmarshal(value, &m) // what it does not say is not shown
			if n.Language = m.Info.Name; n.Language == "" {
				n.Language = m.Kernel.Language
			}
		case "cells":
			n.array = at
			return elements(value, at.begin, n.cell)
		}
		return nil
	})
	switch {
	case errors.Is(err, errMany):
		return nil, err
	case err != nil, format != 4, n.array.end == 0:
		return nil, ErrNone
	}
	return n, nil
}

var errMany = fmt.Errorf("it has more than %d cells", MaxCells)

// cell reads one.
func (n *Notebook) cell(value []byte, at span) error {
	if len(n.Cells) == MaxCells {
		return errMany
	}
	c := Cell{at: at}
	err := members(value, at.begin, func(key string, value []byte, at span) error {
		switch key {
		case "id":
			_ = json.Unmarshal(value, &c.ID) // one that is not text does not count
		case "cell_type":
			c.kind = at
			return json.Unmarshal(value, &c.Kind)
		case "source":
			c.source = at
			c.Source = text(value)
		case "outputs":
			c.results = at
			return elements(value, at.begin, func(value []byte, _ span) error {
				c.outputs = append(c.outputs, read(value))
				return nil
			})
		case "execution_count":
			c.counted = at
			if string(value) != "null" {
				c.count = string(value)
			}
		}
		return nil
	})
	if c.ID == "" || slices.ContainsFunc(n.Cells, func(o Cell) bool { return o.ID == c.ID }) {
		c.ID = fmt.Sprintf("cell-%d", len(n.Cells)+1)
	}
	n.Cells = append(n.Cells, c)
	return err
}

// members walks over an object; at is where a value lies in the file, which begins shift
// bytes before the object.
func members(object []byte, shift int, do func(key string, value []byte, at span) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ErrNone
	}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return ErrNone
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		end := int(dec.InputOffset())
		if err := do(key, value, span{shift + end - len(value), shift + end}); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// elements walks over an array.
func elements(array []byte, shift int, do func(value []byte, at span) error) error {
	dec := json.NewDecoder(bytes.NewReader(array))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return ErrNone
	}
	for dec.More() {
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		end := int(dec.InputOffset())
		if err := do(value, span{shift + end - len(value), shift + end}); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// text reads a text that may be a list of its lines.
func text(value []byte) string {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return one
	}
	var lines []string
	if json.Unmarshal(value, &lines) == nil {
		return strings.Join(lines, "")
	}
	return ""
}

// read reads an output.
func read(value []byte) (o output) {
	var v struct {
		Type      string                     `json:"output_type"`
		Text      json.RawMessage            `json:"text"`
		Data      map[string]json.RawMessage `json:"data"`
		Name      string                     `json:"ename"`
		Value     string                     `json:"evalue"`
		Traceback []string                   `json:"traceback"`
	}
	if json.Unmarshal(value, &v) != nil {
		return output{text: "[an output that cannot be read]"}
	}
	switch v.Type {
	case "stream":
		o.text = text(v.Text)
	case "error":
		o.text = plain(strings.Join(v.Traceback, "\n"))
		if o.text == "" {
			o.text = v.Name + ": " + v.Value
		}
	default:
		for _, media := range []string{"image/png", "image/jpeg"} {
			if p := text(v.Data[media]); p != "" {
				o.picture, o.media = []byte(p), media
				break
			}
		}
		for _, media := range []string{"text/plain", "text/markdown", "text/html"} {
			if o.text = text(v.Data[media]); o.text != "" {
				break
			}
		}
	}
	return o
}

// plain takes the colors of a terminal out of a text.
func plain(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		i := strings.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' })
		s = after[i+1:]
	}
}

// Picture is one among the outputs, in base64.
type Picture struct {
	Media string
	Data  []byte
}

// Show returns the notebook as text, each cell below a line with its id, and the pictures of
// its outputs, which the text counts.
func (n *Notebook) Show() (shown string, pictures []Picture) {
	var b strings.Builder
	fmt.Fprintf(&b, "Notebook with %d cells", len(n.Cells))
	if n.Language != "" {
		b.WriteString(" in " + n.Language)
	}
	b.WriteString("\n")
	for i, c := range n.Cells {
		fmt.Fprintf(&b, "\n=== cell %d, id %s, %s", i+1, c.ID, c.Kind)
		if c.count != "" {
			b.WriteString(", run as " + c.count)
		}
		b.WriteString("\n" + c.Source)
		if c.Source != "" && !strings.HasSuffix(c.Source, "\n") {
			b.WriteString("\n")
		}
		for k, o := range c.outputs {
			if k == maxShown {
				fmt.Fprintf(&b, "--- and %d more outputs\n", len(c.outputs)-k)
				break
			}
			b.WriteString("--- output\n")
			if o.picture != nil {
				if len(pictures) < MaxPictures {
					pictures = append(pictures, Picture{o.media, o.picture})
					fmt.Fprintf(&b, "[picture %d]\n", len(pictures))
				} else {
					fmt.Fprintf(&b, "[a picture; only the first %d are shown]\n", MaxPictures)
				}
			}
			said := o.text
			if len(said) > maxText {
				said = strings.ToValidUTF8(said[:maxText], "") + fmt.Sprintf("\n[%d bytes more]", len(o.text)-maxText)
			}
			if said != "" {
				b.WriteString(strings.TrimSuffix(said, "\n") + "\n")
			}
		}
	}
	return b.String(), pictures
}

// find returns the place of a cell.
func (n *Notebook) find(id string) (int, error) {
	i := slices.IndexFunc(n.Cells, func(c Cell) bool { return c.ID == id })
	if i < 0 {
		return 0, fmt.Errorf("there is no cell %q; Read shows their ids", id)
	}
	return i, nil
}

// Replace returns a cell another source and, unless it is "", another kind. What a code cell
// put out belongs to the old source, and goes.
func (n *Notebook) Replace(id string, kind Kind, source string) ([]byte, error) {
	i, err := n.find(id)
	if err != nil {
		return nil, err
	}
	c := n.Cells[i]
	if c.source.begin == 0 || c.kind.begin == 0 {
		return nil, fmt.Errorf("the cell %q has no source or no cell_type", id)
	}
	if kind == "" || kind == c.Kind {
		changes := []change{{c.source, n.lines(source, n.indent(c.source.begin))}}
		if c.results.begin != 0 {
			changes = append(changes, change{c.results, "[]"})
		}
		if c.counted.begin != 0 {
			changes = append(changes, change{c.counted, "null"})
		}
		return n.with(changes), nil
	}
	return n.with([]change{{c.at, n.made(c, kind, source)}}), nil
}

// Insert puts a new cell after one, or with "" at the beginning, and returns its id.
func (n *Notebook) Insert(after string, kind Kind, source string) (data []byte, id string, err error) {
	i := -1
	if after != "" {
		if i, err = n.find(after); err != nil {
			return nil, "", err
		}
	}
	if len(n.Cells) == MaxCells {
		return nil, "", errMany
	}
	c := Cell{}
	if n.minor >= 5 {
		c.ID = strings.ToLower(rand.Text()[:8])
	}
	id = c.ID
	if id == "" {
		id = fmt.Sprintf("cell-%d", i+2)
	}
	if len(n.Cells) == 0 {
		c.at = span{n.array.begin + 1, n.array.begin + 1}
		cell := n.made(c, kind, source)
		if _, pretty := n.space(n.array.begin); pretty || !bytes.Contains(n.data, []byte("\n")) {
			return n.with([]change{{n.array, "[" + cell + "]"}}), id, nil
		}
		return n.with([]change{{n.array, "[\n  " + cell + "\n ]"}}), id, nil
	}
	if i < 0 {
		first := n.Cells[0]
		c.at = first.at
		return n.with([]change{{span{first.at.begin, first.at.begin}, n.made(c, kind, source) + "," + n.gap(first.at.begin)}}), id, nil
	}
	before := n.Cells[i]
	c.at = before.at
	return n.with([]change{{span{before.at.end, before.at.end}, "," + n.gap(before.at.begin) + n.made(c, kind, source)}}), id, nil
}

// Delete takes a cell away.
func (n *Notebook) Delete(id string) ([]byte, error) {
	i, err := n.find(id)
	if err != nil {
		return nil, err
	}
	at := n.Cells[i].at
	switch {
	case len(n.Cells) == 1:
		at = n.array
		return n.with([]change{{at, "[]"}}), nil
	case i == 0: // with the comma after it, and what is between it and the next
		at.end = n.Cells[1].at.begin
	default: // with the comma before it
		at.begin = n.Cells[i-1].at.end
	}
	return n.with([]change{{at, ""}}), nil
}

// change puts a text in the place of bytes.
type change struct {
	at   span
	text string
}

func (n *Notebook) with(changes []change) []byte {
	slices.SortFunc(changes, func(a, b change) int { return a.at.begin - b.at.begin })
	var out []byte
	done := 0
	for _, c := range changes {
		out = append(append(out, n.data[done:c.at.begin]...), c.text...)
		done = c.at.end
	}
	return append(out, n.data[done:]...)
}

// space returns the white space at the end of what is before a place, and whether there is a
// line break in it or the place is in a file of one line.
func (n *Notebook) space(at int) (string, bool) {
	i := at
	for i > 0 && strings.IndexByte(" \t\r\n", n.data[i-1]) >= 0 {
		i--
	}
	s := string(n.data[i:at])
	return s, strings.Contains(s, "\n")
}

// gap is what stands between two cells: a line break and an indent, or nothing.
func (n *Notebook) gap(at int) string {
	s, _ := n.space(at)
	return s
}

// indent returns the indent of the line that a place is in, "" in a file of one line.
func (n *Notebook) indent(at int) string {
	begin := bytes.LastIndexByte(n.data[:at], '\n') + 1
	end := begin
	for end < at && (n.data[end] == ' ' || n.data[end] == '\t') {
		end++
	}
	if begin == 0 {
		return ""
	}
	return string(n.data[begin:end])
}

// step is by how much the file indents: what a member of a cell has more than the cell.
func (n *Notebook) step() string {
	for _, c := range n.Cells {
		if c.source.begin == 0 {
			continue
		}
		inner, outer := n.indent(c.source.begin), n.indent(c.at.begin)
		if strings.HasPrefix(inner, outer) && inner != outer {
			return inner[len(outer):]
		}
	}
	return " "
}

// pretty reports whether the cells of the file stand on lines of their own.
func (n *Notebook) pretty() bool {
	if len(n.Cells) == 0 {
		return bytes.Contains(n.data, []byte("\n"))
	}
	_, pretty := n.space(n.Cells[0].at.begin)
	return pretty
}

// lines writes a source as nbformat does: a list of its lines.
func (n *Notebook) lines(source, indent string) string {
	if source == "" {
		return "[]"
	}
	var out []string
	for line := range strings.Lines(source) {
		out = append(out, quote(line))
	}
	if !n.pretty() {
		return "[" + strings.Join(out, ", ") + "]"
	}
	inner := "\n" + indent + n.step()
	return "[" + inner + strings.Join(out, ","+inner) + "\n" + indent + "]"
}

// made writes a cell again, at the place of c, whose id and metadata it keeps.
func (n *Notebook) made(c Cell, kind Kind, source string) string {
	outer := n.indent(c.at.begin)
	if len(n.Cells) == 0 {
		outer = "  "
	}
	sep, inner, end := ", ", "", ""
	if n.pretty() {
		inner = outer + n.step()
		sep, end = ",\n"+inner, "\n"+outer
	}
	metadata := "{}"
	_ = members(n.data[c.at.begin:c.at.end], 0, func(key string, value []byte, _ span) error { // a new one has none
		if key == "metadata" {
			metadata = string(value)
		}
		return nil
	})
	fields := []string{`"cell_type": ` + quote(string(kind))}
	if kind == Code {
		fields = append(fields, `"execution_count": null`)
	}
	if n.minor >= 5 && c.ID != "" {
		fields = append(fields, `"id": `+quote(c.ID))
	}
	if fresh := c.source.begin == 0; fresh {
		metadata = "{}"
	}
	fields = append(fields, `"metadata": `+metadata)
	if kind == Code {
		fields = append(fields, `"outputs": []`)
	}
	fields = append(fields, `"source": `+n.lines(source, inner))
	first := ""
	if n.pretty() {
		first = "\n" + inner
	}
	return "{" + first + strings.Join(fields, sep) + end + "}"
}

// quote writes a text as JSON, with letters of all scripts as they are.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return `""` // a string can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}
