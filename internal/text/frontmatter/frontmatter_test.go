package frontmatter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

func field(t *testing.T, d *Document, name string) Value {
	t.Helper()
	f, ok := d.Field(name)
	if !ok {
		t.Fatalf("no field %s", name)
	}
	return f.Value
}

func TestFieldsAndTheBodyBehindThem(t *testing.T) {
	d := parse(t, "\xef\xbb\xbf---\r\nname: review\r\ndescription: >\r\n  Looks at\r\n  changes.\r\ntools: Read, Bash(git log:*, x), Grep\r\ndeny: [Write, \"Edit\"]\r\nlist:\r\n  - a\r\n  - 'b: c'\r\nsteps: 12\r\nbackground: true\r\nnothing:\r\n---\r\nFirst\r\n---\r\nlast\r\n")
	for name, want := range map[string]string{"name": "review", "description": "Looks at changes.", "steps": "12", "nothing": ""} {
		if got, err := field(t, d, name).Text(); got != want || err != nil {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	for name, want := range map[string][]string{
		"tools": {"Read", "Bash(git log:*, x)", "Grep"}, "deny": {"Write", "Edit"}, "list": {"a", "b: c"}, "nothing": nil,
	} {
		if got, err := field(t, d, name).List(); !slices.Equal(got, want) || err != nil {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	if n, err := field(t, d, "steps").Int(1, 12); n != 12 || err != nil {
		t.Error(n, err)
	}
	if b, err := field(t, d, "background").Bool(); !b || err != nil {
		t.Error(b, err)
	}
	if d.Body != "First\n---\nlast\n" || d.BodyLine != 15 {
		t.Errorf("body %q on line %d", d.Body, d.BodyLine)
	}
	if f, _ := d.Field("deny"); f.Line != 7 {
		t.Errorf("deny stands on line %d", f.Line)
	}
}

func TestAFileWithoutFieldsIsAllBody(t *testing.T) {
	for text, body := range map[string]string{
		"": "", "hello\n": "hello\n", "--- \n---\nx": "x", "---\n# only a comment\n---\n": "", "----\nx\n---\n": "----\nx\n---\n", " ---\n": " ---\n",
	} {
		if d := parse(t, text); len(d.Fields) > 0 || d.Body != body {
			t.Errorf("%q: %d fields, body %q", text, len(d.Fields), d.Body)
		}
	}
}

func TestWhatIsWrongIsSaidWithItsLine(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2)
	for text, want := range map[string]string{
		"---\nname: x\n":                                                 "a.md:1: the fields do not end; put a line --- behind them",
		"---\na: b\na: c\n---\n":                                         "a.md:3: a stands there twice",
		"---\na: b\nc: d: e\n---\n":                                      `a.md:3: a value with ": " in it must stand in quotes`,
		"---\na: b\n\tc: d\n---\n":                                       "a.md:3: ",
		"---\njust words\n---\n":                                         `a.md:2: the fields have the form "name: value"`,
		"---\na: &x b\n---\n":                                            "a.md:2: a value that begins with & or * must stand in quotes",
		"---\na: [*]\n---\n":                                             "a.md:2: ",
		"---\na: !!binary eA==\n---\n":                                   "a.md:2: a value that begins with ! must stand in quotes",
		"---\na: {b: {c: 1, c: 2}}\n---\n":                               "a.md:2: c stands there twice",
		"---\na:\n  <<: {b: c}\n---\n":                                   "a.md:3: << is not supported",
		"---\n? [a]\n: b\n---\n":                                         "a.md:2: a name must be a word",
		"---\na: " + deep + "\n---\n":                                    "a.md:2: lists and maps stand in each other more than 32 deep",
		"---\na: [" + strings.Repeat("1,", MaxNodes) + "1]\n---\n":       "a.md:2: there are more than 4000 keys and values",
		"---\n" + strings.Repeat("# comment\n", MaxBlock/10+1) + "---\n": "a.md:6555: the fields take more than 64 KiB; the line --- ends them",
		"---\nname: x\n---\nok\n\xff\n":                                  "a.md:5: it is not text in UTF-8",
		"---\na: 'b\n---\n":                                              "a.md:",
	} {
		_, err := Parse([]byte(text))
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(At("a.md", err), want) || strings.HasSuffix(At("a.md", err), ": ") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestAValueOfAnotherKindIsSaidWithItsName(t *testing.T) {
	d := parse(t, "---\nmap: {a: b}\nlist: [[a]]\nword: x\nbig: 99999999999999999999\n---\n")
	for _, c := range []struct {
		err  func() error
		want string
	}{
		{func() error { _, err := field(t, d, "map").Text(); return err }, "line 2: map must be one text"},
		{func() error { _, err := field(t, d, "map").List(); return err }, "line 2: map must be a list of texts"},
		{func() error { _, err := field(t, d, "list").List(); return err }, "line 3: list must be a list of texts"},
		{func() error { _, err := field(t, d, "word").Int(1, 5); return err }, "line 4: word must be a whole number from 1 to 5"},
		{func() error { _, err := field(t, d, "big").Int(1, 5); return err }, "line 5: big must be a whole number from 1 to 5"},
		{func() error { _, err := field(t, d, "word").Bool(); return err }, "line 4: word must be true or false"},
	} {
		if err := c.err(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestASchemaBecomesJSONInTheOrderOfTheFile(t *testing.T) {
	d := parse(t, "---\ninput:\n  type: object\n  properties:\n    zone: {type: string, enum: [a, \"1\", 2024-01-02]}\n    count:\n      type: integer\n      minimum: 0x10\n      default: 1.5\n  required: [zone]\n  additionalProperties: false\n  none: ~\n---\n")
	got, err := field(t, d, "input").JSON()
	want := `{"type":"object","properties":{"zone":{"type":"string","enum":["a","1","2024-01-02"]},"count":{"type":"integer","minimum":16,"default":1.5}},"required":["zone"],"additionalProperties":false,"none":null}`
	if err != nil || string(got) != want {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
	if _, err := field(t, parse(t, "---\na: [.inf]\n---\n"), "a").JSON(); fmt.Sprint(err) != "line 2: a: JSON knows no .inf" {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\na: b\n---\nbody")
	f.Add("---\na: [1, {b: c}]\nd: |\n  x\n---\n")
	f.Add("---\n? a\n: &b *c\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse([]byte(text))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Problem == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		for _, f := range d.Fields {
			_, _ = f.Value.Text()
			_, _ = f.Value.List()
			if data, err := f.Value.JSON(); err == nil && !json.Valid(data) {
				t.Errorf("%q gives %q", text, data)
			}
		}
	})
}
