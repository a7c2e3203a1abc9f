package headless

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"scorel/protocol/display"
)

// Bounds of structured answers.
const (
	maxSchema  = 256 << 10 // bytes of a schema
	maxMisfit  = 2000      // bytes of what the model is told of an answer that does not fit
	maxRetries = 2         // answers that are asked for again
)

// Schema is a JSON Schema that the last answer of a run must fit.
type Schema struct {
	text     []byte // compact
	resolved *jsonschema.Resolved
}

// ReadSchema reads the file of a JSON Schema. References lead nowhere outside of it. The
// error says what is wrong with the file.
func ReadSchema(name string) (*Schema, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the JSON Schema: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSchema+1))
	if err != nil {
		return nil, fmt.Errorf("read the JSON Schema: %w", err)
	}
	if len(data) > maxSchema {
		return nil, fmt.Errorf("the JSON Schema %s has more than %d KiB", name, maxSchema>>10)
	}
	s, err := newSchema(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a JSON Schema: %w", name, err)
	}
	return s, nil
}

func newSchema(data []byte) (*Schema, error) {
	var any json.RawMessage
	if err := json.Unmarshal(data, &any); err != nil {
		return nil, fmt.Errorf("it is not one JSON value: %s", wrongAt(err, len(data)))
	}
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil {
		return nil, err
	}
	if c := text.Bytes(); c[0] != '{' && string(c) != "true" && string(c) != "false" {
		return nil, errors.New("it is neither an object nor true or false")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("%s cannot be of the type %s", wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], wrong.Value)
		}
		return nil, wrongSchema(err)
	}
	if err := checkTypes(&s, 0); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, wrongSchema(err)
	}
	return &Schema{text.Bytes(), resolved}, nil
}

// wrongSchema says what is wrong with a schema without the words of the library that reads it.
func wrongSchema(err error) error {
	text := err.Error()
	_, pattern, isPattern := strings.Cut(text, "error parsing regexp: ")
	switch {
	case isPattern:
		return errors.New("a pattern is wrong: " + pattern)
	case strings.Contains(text, "unmarshaled into an int"):
		return errors.New("a length or a count is not a whole number")
	case strings.Contains(text, "no loader"):
		return errors.New("a $ref leads out of the file; references lead only to a part of it, as #/$defs/NAME")
	}
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(text, "jsonschema.Schema: "), "<anonymous schema>: "))
}

// maxNesting bounds how deep schemas are in each other.
const maxNesting = 100

// checkTypes refuses types that JSON does not have, which would fit nothing.
func checkTypes(s *jsonschema.Schema, depth int) error {
	if s == nil {
		return nil
	}
	if depth > maxNesting {
		return fmt.Errorf("schemas are in each other more than %d deep", maxNesting)
	}
	all := []string{"null", "boolean", "object", "array", "number", "string", "integer"}
	for _, t := range append(slices.Clone(s.Types), s.Type) {
		if t != "" && !slices.Contains(all, t) {
			return fmt.Errorf("there is no type %q; there are %s", t, strings.Join(all, ", "))
		}
	}
	below := []*jsonschema.Schema{s.Items, s.AdditionalItems, s.Contains, s.UnevaluatedItems, s.AdditionalProperties, s.PropertyNames, s.UnevaluatedProperties, s.Not, s.If, s.Then, s.Else, s.ContentSchema}
	for _, list := range [][]*jsonschema.Schema{s.PrefixItems, s.ItemsArray, s.AllOf, s.AnyOf, s.OneOf} {
		below = append(below, list...)
	}
	for _, m := range []map[string]*jsonschema.Schema{s.Defs, s.Definitions, s.Properties, s.PatternProperties, s.DependentSchemas, s.DependencySchemas} {
		for _, one := range m {
			below = append(below, one)
		}
	}
	for _, one := range below {
		if err := checkTypes(one, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Demand is what the model is told beside what it is to do.
func (s *Schema) Demand() string {
	return "Your last answer must be one JSON value that fits this JSON Schema, and nothing else: no words before or after it, no Markdown.\n\n<json_schema>\n" + string(s.text) + "\n</json_schema>"
}

// Fit returns the JSON value that an answer is, compact. An answer that is one fenced block
// and words around it is taken for that block. The error says what does not fit.
func (s *Schema) Fit(answer string) (json.RawMessage, error) {
	text := strings.TrimSpace(answer)
	if text == "" {
		return nil, errors.New("the answer is empty")
	}
	if block, ok := onlyBlock(text); ok && !json.Valid([]byte(text)) {
		text = block
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("the answer is not one JSON value: %s", wrongAt(err, len(text)))
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, fmt.Errorf("the answer does not fit the schema: %s", misfit(err))
	}
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// wrongAt says where a text of n bytes is not JSON.
func wrongAt(err error, n int) string {
	var wrong *json.SyntaxError
	if !errors.As(err, &wrong) || wrong.Offset >= int64(n) {
		return "it ends too early"
	}
	return fmt.Sprintf("something is wrong at byte %d of %d", wrong.Offset, n)
}

// onlyBlock returns the text of the only fenced block.
func onlyBlock(text string) (string, bool) {
	parts := strings.Split("\n"+text, "\n```")
	if len(parts) != 3 {
		return "", false
	}
	_, block, ok := strings.Cut(parts[1], "\n") // after the name of the language
	return block, ok
}

// again is what the model is told of an answer that does not fit.
func (s *Schema) again(misfit error) string {
	what := misfit.Error()
	if len(what) > maxMisfit {
		what = strings.ToValidUTF8(what[:maxMisfit], "") + "…"
	}
	return "This does not fit: " + display.Line(what) + ".\nAnswer again, with the JSON value alone.\n\n" + s.Demand()
}

// misfit says where a value does not fit, without the words of the library.
func misfit(err error) string {
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "validating root: "), "validating ", "at ")
}
