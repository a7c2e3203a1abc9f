package command

import (
	"strings"
	"testing"
)

func TestBundledTemplatesAreSound(t *testing.T) {
	var names []string
	for _, b := range BundledTemplates() {
		names = append(names, b.Name)
		if b.Problem != "" || b.Shell || b.Description == "" || b.ArgumentHint == "" {
			t.Errorf("%+v", b)
		}
		data, _ := BundledText(b.Name)
		body, err := ReadBody(data)
		if err != nil {
			t.Fatal(err)
		}
		text, err := body.Expand(t.Context(), args(t, "the parser"), nil)
		if err != nil || strings.Count(text, "the parser") != 1 || strings.Contains(text, "$") || strings.Contains(text, "---") {
			t.Errorf("/%s becomes %q (%v)", b.Name, text, err)
		}
	}
	if got := strings.Join(names, " "); got != "commit init review" {
		t.Errorf("there are %s", got)
	}
	if _, ok := BundledText("../bundled"); ok {
		t.Error("a path is taken for a name")
	}
}
