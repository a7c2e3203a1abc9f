package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDocumentHasTheInputsOfEveryTool compares the table of docs/tools.md with the
// schemas that models are given: who writes a script of answers needs both to agree. The
// failure prints the table as it should be.
func TestTheDocumentHasTheInputsOfEveryTool(t *testing.T) {
	var table strings.Builder
	table.WriteString("| tool | input |\n|---|---|\n")
	for _, tool := range All() {
		spec := tool.Spec()
		var s inputSchema
		if err := json.Unmarshal(spec.Schema, &s); err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		fmt.Fprintf(&table, "| `%s` | `%s` |\n", spec.Name, strings.ReplaceAll(s.shape(), "|", "\\|"))
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n\n"+table.String()+"\n") {
		t.Errorf("docs/tools.md should have this table:\n%s", &table)
	}
}

// inputSchema is the part of JSON Schema that the inputs of tools use.
type inputSchema struct {
	Type       string
	Enum       []string
	Items      *inputSchema
	Required   []string
	Properties ordered
}

// shape writes a schema as the documents write the fields of requests.
func (s *inputSchema) shape() string {
	switch {
	case len(s.Enum) > 0:
		var words []string
		for _, w := range s.Enum {
			words = append(words, fmt.Sprintf("%q", w))
		}
		return strings.Join(words, "|")
	case s.Type == "array" && s.Items != nil:
		return "[" + s.Items.shape() + ", …]"
	case s.Type == "object":
		var fields []string
		for _, f := range s.Properties {
			name := f.name
			if !bytes.Contains([]byte(" "+strings.Join(s.Required, " ")+" "), []byte(" "+name+" ")) {
				name += "?"
			}
			fields = append(fields, name+": "+f.schema.shape())
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case s.Type == "":
		return "any value"
	}
	return s.Type
}

// ordered are the properties of an object, in their order.
type ordered []struct {
	name   string
	schema inputSchema
}

// UnmarshalJSON reads an object.
func (o *ordered) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var s inputSchema
		if err := dec.Decode(&s); err != nil {
			return err
		}
		*o = append(*o, struct {
			name   string
			schema inputSchema
		}{name.(string), s})
	}
	return nil
}
