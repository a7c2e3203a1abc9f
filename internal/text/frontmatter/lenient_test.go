package frontmatter

import (
	"strings"
	"testing"
)

func TestValuesWithoutQuotesAreTheTextThatTheyLookLike(t *testing.T) {
	text := "---\nname: reviewer\ndescription: Use this agent when: there's a diff. Examples:\\n<example>user: \"x\"</example>\ntools: Read, Grep\nmodel: sonnet\n" +
		"argument-hint: [file] [line]\nalso: first\n  second: third\n  fourth\nstar: *.go\n---\nbody\n"
	if _, err := Parse([]byte(text)); err == nil {
		t.Fatal("YAML takes it")
	}
	d, err := ParseLenient([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"name": "reviewer", "description": `Use this agent when: there's a diff. Examples:\n<example>user: "x"</example>`,
		"tools": "Read, Grep", "model": "sonnet", "argument-hint": "[file] [line]", "also": "first second: third fourth", "star": "*.go"} {
		if got, err := field(t, d, name).Text(); got != want || err != nil {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	if f, _ := d.Field("star"); f.Line != 10 || d.BodyLine != 12 || d.Body != "body\n" {
		t.Errorf("star is on line %d, the body %q on line %d", f.Line, d.Body, d.BodyLine)
	}
}

func TestLooseReadingChangesNothingThatIsYAML(t *testing.T) {
	for _, text := range []string{"", "no fields", "---\na: [x, y]\nb: 'c: d'\n---\nbody", "---\na: >\n  b\n  c\n---\n"} {
		a, err := Parse([]byte(text))
		b, lerr := ParseLenient([]byte(text))
		if err != nil || lerr != nil || len(a.Fields) != len(b.Fields) || a.Body != b.Body || a.BodyLine != b.BodyLine {
			t.Errorf("%q: %v, %v", text, err, lerr)
		}
	}
	for _, text := range []string{"---\na: b\na: c\n---\n", "---\nname: x\n", "---\n: x: y\n---\n", "---\na: b\n\xff: c: d\n---\n"} {
		_, err := Parse([]byte(text))
		if _, lerr := ParseLenient([]byte(text)); err == nil || lerr == nil || lerr.Error() != err.Error() {
			t.Errorf("%q: %v, not %v", text, lerr, err)
		}
	}
}

func FuzzParseLenient(f *testing.F) {
	f.Add("---\na: b: c\n---\nbody")
	f.Add("---\na: [b] [c]\n d: e\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseLenient([]byte(text))
		strict, serr := Parse([]byte(text))
		switch {
		case err != nil && serr == nil:
			t.Errorf("%q is YAML: %v", text, err)
		case err == nil && serr == nil && len(d.Fields) != len(strict.Fields):
			t.Errorf("%q has %d fields, not %d", text, len(d.Fields), len(strict.Fields))
		case err == nil && !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), d.Body):
			t.Errorf("%q has the body %q", text, d.Body)
		}
	})
}
