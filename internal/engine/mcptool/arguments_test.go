package mcptool

import (
	"maps"
	"strings"
	"testing"

	"scorel/internal/engine/mcp/connect"
)

// TestArgsThatBeginAsJSONDoesAreNeverReadAsWords: the server would get pieces of the JSON.
func TestArgsThatBeginAsJSONDoesAreNeverReadAsWords(t *testing.T) {
	p := connect.Prompt{Name: "mcp__notes__greet", Arguments: []connect.Argument{{Name: "who", Required: true}, {Name: "how"}}}
	for args, want := range map[string]string{
		`{"who":["a","b"]}`:      `the value of "who" must be a text, a number, true or false`,
		`{"who":"a","how":null}`: `the value of "how" must be a text`,
		`{"who":{"a":1}}`:        `the value of "who" must be a text`,
		`{"who":"a"`:             "one whole JSON object",
		`{who: "a"}`:             "one whole JSON object",
		` ["a","b"]`:             "one whole JSON object",
		`{"who":"a"} and more`:   "one whole JSON object",
		`{"who":"a"}]`:           "one whole JSON object",
		`{"who":""}`:             "needs who",
		`{"whom":"a"}`:           `has no argument "whom"`,
		`{"` + strings.Repeat("x", 200_000) + `":[]}`: "must be a text",
	} {
		values, err := Arguments(p, args)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "; its args are <who> [how]") || len(err.Error()) > 500 {
			t.Errorf("%.100s: %v, %.300v", args, values, err)
		}
	}
	for args, want := range map[string]map[string]string{
		`{"who":7,"how":true}`:  {"who": "7", "how": "true"},
		`{"who":"a","how":""}`:  {"who": "a", "how": ""},
		`Ada {warmly} [or not]`: {"who": "Ada", "how": "{warmly} [or not]"},
	} {
		if values, err := Arguments(p, args); err != nil || !maps.Equal(values, want) {
			t.Errorf("%s: %v, %v", args, values, err)
		}
	}
}
