package plain

import (
	"strings"
	"testing"
)

func TestTableAlignsCellsOfAnyLength(t *testing.T) {
	var out strings.Builder
	rows := [][]string{{"a", "bb", "the last is as long as it is"}, {"世界", "c", ""}, nil, {"one cell that is longer than all"}, {"", "", "  indented\n\x1b[2J"}}
	if err := Table(&out, rows); err != nil {
		t.Fatal(err)
	}
	want := "a     bb  the last is as long as it is\n世界  c   \n\none cell that is longer than all\n          "
	if got := out.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, "  indented") || strings.Contains(got, "\x1b") {
		t.Errorf("%q, want %q…", got, want)
	}
}

func TestFirstLineIsCutAtTheLength(t *testing.T) {
	for text, want := range map[string]string{" one\ntwo": "one", "abcdef": "abcd…", "abcde": "abcde", "": ""} {
		if got := FirstLine(text, 5); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
