package connect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/text/promptsafe"
	"scorel/protocol/jsonscan"
)

const (
	// maxDescription is how much a model sees of a description, in bytes.
	maxDescription = 2048
	// maxName is the longest name that all vendors take.
	maxName = 64
	// maxSchema and maxSchemaDepth bound the schema of a tool.
	maxSchema      = 256 << 10
	maxSchemaDepth = 64
	// maxTools and maxPages bound a list.
	maxTools = 1000
	maxPages = 50
)

// Tool is a tool of a server, as a model may see it.
type Tool struct {
	Name        string // mcp__server__tool
	Own         string // its name at the server
	Title       string // for people, "" for none
	Description string
	Schema      json.RawMessage // of the input: an object
	Hint        string          // words to find it by, "" for none
	ReadOnly    bool            // says the server; it gives no permission
	Destructive bool            // says the server, of a tool that changes something
	OpenWorld   bool            // says the server: it reaches others
	AlwaysLoad  bool            // asks the server

	schema   *jsonschema.Resolved
	perValue int // schemas that one value of an input meets at most
}

// Check says what is wrong with an input, nil for nothing. An input whose check would take
// too long is left to the server.
func (t *Tool) Check(in json.RawMessage) error {
	if len(bytes.TrimSpace(in)) == 0 {
		in = json.RawMessage("{}")
	}
	var v any
	if err := json.Unmarshal(in, &v); err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if _, ok := v.(map[string]any); !ok {
		return errors.New("it must be a JSON object")
	}
	if !fits(t.perValue, in) {
		return nil
	}
	if err := t.schema.Validate(v); err != nil {
		return errors.New(cut(promptsafe.Clean(err.Error()), 1000))
	}
	return nil
}

// ToolName is the name under which a tool of a server is called. It has at most 64 bytes
// of A-Z, a-z, 0-9, _ and -, and begins with mcp__, the server's name and __.
func ToolName(server, tool string) string {
	name := Prefix(server) + plain(tool)
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	return name[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
}

// Prefix is what the names of the tools of a server begin with, unless they are cut.
func Prefix(server string) string { return "mcp__" + plain(server) + "__" }

// MayBeCut reports whether a name could be the one of a tool of a server that is cut before
// the end of the server's own.
func MayBeCut(server, name string) bool {
	const kept = maxName - 9
	return len(name) == maxName && strings.HasPrefix(Prefix(server), name[:kept])
}

// PlainName is the name of a server as the names of its tools and permission rules write it.
func PlainName(server string) string { return plain(server) }

// plain writes _ for each character that a name may not have.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, s)
}

// Tools makes the tools of a list; the faults say which are left out and why. Of two that
// would have one name the first by its own name counts.
func Tools(server string, list []*mcp.Tool) (tools []Tool, faults []string) {
	list = slices.DeleteFunc(slices.Clone(list), func(t *mcp.Tool) bool { return t == nil })
	slices.SortStableFunc(list, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	taken := map[string]string{}
	for _, t := range list {
		shown := cut(promptsafe.Clean(t.Name), 100)
		made, err := toolOf(server, t)
		switch other, double := taken[made.Name]; {
		case err != nil:
			faults = append(faults, fmt.Sprintf("its tool %q is left out: %v", shown, err))
		case double:
			faults = append(faults, fmt.Sprintf("its tool %q is left out: it would be called %s, as %q is", shown, made.Name, other))
		default:
			taken[made.Name] = shown
			tools = append(tools, made)
		}
	}
	return tools, faults
}

func toolOf(server string, t *mcp.Tool) (Tool, error) {
	made := Tool{Name: ToolName(server, t.Name), Own: t.Name, Title: oneLine(t.Title), Description: cut(promptsafe.Clean(t.Description), maxDescription)}
	if t.Name == "" || !utf8.ValidString(t.Name) || len(t.Name) > 1024 {
		return made, errors.New("its name is empty, too long or no UTF-8")
	}
	if a := t.Annotations; a != nil {
		made.ReadOnly = a.ReadOnlyHint
		made.Destructive = !a.ReadOnlyHint && a.DestructiveHint != nil && *a.DestructiveHint
		made.OpenWorld = a.OpenWorldHint != nil && *a.OpenWorldHint
		if made.Title == "" {
			made.Title = oneLine(a.Title)
		}
	}
	if hint, ok := t.Meta["anthropic/searchHint"].(string); ok {
		made.Hint = oneLine(hint)
	}
	made.AlwaysLoad, _ = t.Meta["anthropic/alwaysLoad"].(bool)
	err := made.read(t.InputSchema)
	return made, err
}

// read reads the schema of the input. Nothing is fetched for it.
func (t *Tool) read(v any) error {
	raw, err := json.Marshal(v)
	switch {
	case err != nil:
		return fmt.Errorf("its schema is not JSON: %w", err)
	case v == nil:
		return errors.New("it has no schema")
	case len(raw) > maxSchema:
		return fmt.Errorf("its schema has %d KiB, at most %d are taken", len(raw)>>10, maxSchema>>10)
	case jsonscan.Deeper(raw, maxSchemaDepth):
		return fmt.Errorf("its schema is more than %d levels deep", maxSchemaDepth)
	}
	if object, ok := v.(map[string]any); !ok || object["type"] != "object" {
		return errors.New(`its schema is not that of an object: "type" must be "object"`)
	}
	if ref := foreign(v); ref != "" {
		return fmt.Errorf("its schema refers to %q, and nothing is fetched for a schema", cut(promptsafe.Clean(ref), 200))
	}
	if t.perValue, err = effortOf(v); err != nil {
		return err
	}
	if t.perValue > maxEffort {
		return errors.New("its schema would take too long to check an input")
	}
	cleaned := cleanTexts(v)
	if name, found := unseen(cleaned); found {
		return fmt.Errorf("its schema has characters that nobody sees, in %q", cut(promptsafe.Clean(name), 100))
	}
	if t.Schema, err = json.Marshal(cleaned); err != nil {
		return err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("its schema is not one: %s", cut(promptsafe.Clean(err.Error()), 200))
	}
	if t.schema, err = schema.Resolve(&jsonschema.ResolveOptions{}); err != nil {
		return fmt.Errorf("its schema cannot be used: %s", cut(promptsafe.Clean(err.Error()), 200))
	}
	return nil
}

// foreign returns the first reference of a schema that leads out of it.
func foreign(v any) string {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if ref, ok := value.(string); ok && (key == "$ref" || key == "$dynamicRef") && !strings.HasPrefix(ref, "#") {
				return ref
			}
			if ref := foreign(value); ref != "" {
				return ref
			}
		}
	case []any:
		for _, value := range v {
			if ref := foreign(value); ref != "" {
				return ref
			}
		}
	}
	return ""
}

// cleanTexts cleans and cuts the descriptions and titles in a schema, which a model reads.
func cleanTexts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if text, ok := value.(string); ok && (key == "description" || key == "title" || key == "$comment") {
				value = cut(promptsafe.Clean(text), maxDescription)
			}
			out[key] = cleanTexts(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cleanTexts(v[i])
		}
		return out
	}
	return v
}

// unseen returns the first name or value with characters that nobody sees: a model would read
// them, and they cannot be taken out of what an input must have.
func unseen(v any) (text string, found bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if promptsafe.Clean(key) != key {
				return key, true
			}
			if text, found = unseen(v[key]); found {
				return text, true
			}
		}
	case []any:
		for _, item := range v {
			if text, found = unseen(item); found {
				return text, true
			}
		}
	case string:
		return v, promptsafe.Clean(v) != v
	}
	return "", false
}

// oneLine makes a short text of a server fit for a line.
func oneLine(s string) string {
	return cut(strings.Join(strings.Fields(promptsafe.Clean(s)), " "), 200)
}

// cut cuts a text to a number of bytes, at a character, and says so by three dots.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
