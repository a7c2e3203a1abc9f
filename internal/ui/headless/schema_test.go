package headless

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const person = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"],"additionalProperties":false}`

func TestFitTakesTheJSONValueOfAnAnswer(t *testing.T) {
	s, err := newSchema([]byte(person))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		` {"name": "Ada", "age": 36}` + "\n":                          `{"name":"Ada","age":36}`,
		"```json\n{\"name\":\"Ada\"}\n```":                            `{"name":"Ada"}`,
		"Here it is:\n\n```\n{\"name\":\"Ada\"}\n```\nAnything else?": `{"name":"Ada"}`,
		`{"name":"a ` + "`` ```" + ` b"}`:                             `{"name":"a ` + "`` ```" + ` b"}`,
		`{"name":"x","age":12345678901234567890}`:                     `{"name":"x","age":12345678901234567890}`,
		"":                              "the answer is empty",
		"Ada is 36.":                    "the answer is not one JSON value: ",
		`{"name":"Ada"} {"name":"Bob"}`: "the answer is not one JSON value: ",
		`{"age":36}`:                    "the answer does not fit the schema: ",
		`{"name":"Ada","age":3.5}`:      "the answer does not fit the schema: ",
		`{"name":"Ada","more":1}`:       "the answer does not fit the schema: ",
		"```\n{\"name\":\"A\"}\n```\n```\n{\"name\":\"B\"}\n```": "the answer is not one JSON value: ",
	} {
		value, err := s.Fit(answer)
		got := string(value)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
	}
}

func TestASchemaThatIsNotValidIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"objekt"}`: `there is no type "objekt"; there are null`,
		`{"properties":{"a":{"items":{"anyOf":[{"type":["string","nothing"]}]}}}}`: `there is no type "nothing"`,
		`{"type":5}`:            `invalid value for "type"`,
		`{"required":"a"}`:      "required cannot be of the type string",
		`{"$ref":"#/nope"}`:     "JSON Pointer",
		`{"$ref":"http://a/b"}`: "leads out of the file",
		`{"pattern":"("}`:       "a pattern is wrong",
		`[]`:                    "it is neither an object nor true or false",
		`"x"`:                   "it is neither an object nor true or false",
		`{`:                     "it ends too early",
		``:                      "it ends too early",
		strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200): "more than 100 deep",
	} {
		if _, err := newSchema([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{person, `true`, `{}`, `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"items":{"$ref":"#/definitions/a"}}`} {
		if _, err := newSchema([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	big := filepath.Join(t.TempDir(), "big.json")
	if err := os.WriteFile(big, make([]byte, maxSchema+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSchema(big); err == nil || !strings.Contains(err.Error(), "more than 256 KiB") {
		t.Errorf("a large file: %v", err)
	}
	if _, err := ReadSchema(filepath.Join(t.TempDir(), "none")); err == nil || !strings.HasPrefix(err.Error(), "read the JSON Schema: ") {
		t.Errorf("no file: %v", err)
	}
}

func TestAnAnswerThatDoesNotFitIsToldWithItsPlaceAlone(t *testing.T) {
	s, err := newSchema([]byte(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"a":"no"}`: `the answer does not fit the schema: at /properties/a: type: no has type "string", want "integer"`,
		`{}`:         `the answer does not fit the schema: required: missing properties: ["a"]`,
	} {
		if _, err := s.Fit(answer); err == nil || err.Error() != want {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestWhatIsWrongWithASchemaIsToldWithoutWordsOfALibrary(t *testing.T) {
	for schema, want := range map[string]string{
		`{"a" 1}`:                         "it is not one JSON value: something is wrong at byte 6 of 7",
		`{"a":`:                           "it is not one JSON value: it ends too early",
		`{"minLength":"x"}`:               "a length or a count is not a whole number",
		`{"properties":[]}`:               "properties cannot be of the type array",
		`{"type":"string","pattern":"("}`: "a pattern is wrong: missing closing ): `(`",
		`{"$ref":"http://x/y"}`:           "a $ref leads out of the file; references lead only to a part of it, as #/$defs/NAME",
	} {
		if _, err := newSchema([]byte(schema)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", schema, err, want)
		}
	}
	s, err := newSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fit("Here it is."); err == nil || err.Error() != "the answer is not one JSON value: something is wrong at byte 1 of 11" {
		t.Errorf("an answer in words: %v", err)
	}
}
