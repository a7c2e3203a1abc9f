package sgr

import (
	"strings"
	"testing"
)

func TestOnlyColoursAndWeightsStay(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                                  "plain",
		"\x1b[1;31mred\x1b[0m":                   "\x1b[1;31mred\x1b[m",
		"\x1b[38;5;8mgrey\x1b[m":                 "\x1b[38;5;8mgrey\x1b[m",
		"\x1b[38;2;1;5;8mrgb":                    "\x1b[38;2;1;5;8mrgb",
		"\x1b[8mhidden":                          "hidden",
		"\x1b[1;5mblinks":                        "\x1b[1mblinks",
		"\x1b[06mfast":                           "fast",
		"a\x1b]0;title\x07b":                     "ab",
		"a\x1b]52;c;UFdORUQ=\x1b\\b":             "ab",
		"a\x1b[2J\x1b[5;5Hb":                     "ab",
		"a\x1b_Gf=PWNED\x1b\\b":                  "ab",
		"a\x1bP+qPWNED\x1b\\b":                   "ab",
		"a\x08\x0e\x05\x1bcb":                    "ab",
		"a\u009b8mb":                             "ab",
		"a\u202eb":                               "a[U+202E]b",
		"a\nb\tc":                                "a b c",
		"\x1b[" + strings.Repeat("1;", 40) + "m": "",
		"\x1b[6n\x1b[?1049h":                     "",
		"\x1b[3":                                 "3",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzNoOtherSequenceStays(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m \x1b]0;x\x07")
	f.Fuzz(func(t *testing.T, in string) {
		rest := Line(in)
		for {
			before, after, found := strings.Cut(rest, "\x1b")
			for _, r := range before {
				if r < ' ' || r >= 0x7f && r < 0xa0 {
					t.Fatalf("%q leaves %q", in, r)
				}
			}
			if !found {
				return
			}
			end := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("[0123456789;:", r) })
			if !strings.HasPrefix(after, "[") || end < 0 || after[end] != 'm' {
				t.Fatalf("%q leaves the sequence %q", in, after)
			}
			rest = after[end+1:]
		}
	})
}
