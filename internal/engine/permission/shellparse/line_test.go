package shellparse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show writes a line for comparison: words in quotes, ~ in front of those that
// are not literal, redirections, and ! with the reason for asking.
func show(l Line) string {
	var out []string
	for _, s := range l.Steps {
		var parts []string
		for _, w := range s.Words {
			mark := ""
			if !w.Literal {
				mark = "~"
			}
			parts = append(parts, fmt.Sprintf("%s%q", mark, w.Text))
		}
		for _, r := range s.Redirects {
			switch r.Effect {
			case Reads:
				parts = append(parts, "<"+r.Target.Text)
			case Writes:
				parts = append(parts, ">"+r.Target.Text)
			default:
				parts = append(parts, "&")
			}
		}
		if s.Ask != "" {
			parts = append(parts, "!")
		}
		out = append(out, strings.Join(parts, " "))
	}
	text := strings.Join(out, " | ")
	if l.Ask != "" {
		text += " !!"
	}
	return text
}

func TestLinesAreTakenApartIntoSimpleCommands(t *testing.T) {
	for src, want := range map[string]string{
		"":                                "",
		"a b":                             `"a" "b"`,
		"a;b|c&&d||e&":                    `"a" | "b" | "c" | "d" | "e"`,
		"a $(b $(c))":                     `"c" | "b" ~"$(c)" | "a" ~"$(b $(c))"`,
		"a <(b) >(c)":                     `"b" | "c" | "a" ~"<(b)" ~">(c)"`,
		"a >x 2>&1 <y":                    `"a" >x & <y`,
		"(a; b) >x":                       `>x | "a" | "b"`,
		`a "b c" 'd e' f\ g $'h\x41\101'`: `"a" "b c" "d e" "f g" ~"hAA"`,
		`"a"b'c'`:                         `"abc"`,
		`a "\$x \q"`:                      `"a" "$x \\q"`,
		"a \\\nb c":                       `"a" "b" "c"`,
		"a ~ ~/x x~ ~\"/x\"":              `"a" ~"~" ~"~/x" "x~" ~"~/x"`,
		"a *.go [x] [ x{1} {b,c} {1..3}":  `"a" ~"*.go" ~"[x]" "[" "x{1}" ~"{b,c}" ~"{1..3}"`,
		"a $x ${x} \"${x:-b}\"":           `"a" ~"$x" ~"$x" ~"${x:-b}"`,
		"X=1 a":                           `"a" !`,
		"f() { a; }":                      `"a" !!`,
		"export A=$(b)":                   `"b" | "export" ~"A=$(b)" !`,
		"a # b":                           `"a"`,
		"time a":                          `"a" !`,
		"while a; do b; done <x":          `<x | "a" | "b"`,
		"case $(a) in b) c;; esac":        `"a" |  | "c"`,
		"[[ -f $(a) ]]":                   `"a" | `,
		"a <<'E'\n$(b)\nE":                `"a" &`,
		"a <<E\n$(b)\nE":                  `"b" | "a" & !`,
	} {
		line, err := Parse(src)
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		if got := show(line); got != want {
			t.Errorf("%q:\n got %s\nwant %s", src, got, want)
		}
	}
}

func TestWhatBashMayReadDifferentlyIsAnError(t *testing.T) {
	for _, src := range []string{"a '", "a (", "if a", "a\rb", "a\x00", "a\x1b", "a \xff", strings.Repeat("a", MaxSource+1)} {
		if _, err := Parse(src); err == nil {
			t.Errorf("%.20q: no error", src)
		}
	}
}

func TestOperandsCannotBecomeOptions(t *testing.T) {
	for word, want := range map[string]bool{
		"a": true, "-a": false, "--": false, "a-b": true, "$x": false, `"$x"`: false, `"a$x"`: true, "a$x": false, "a*": true, "*": false, "[-a]x": false,
		"~/a": true, "{-a,b}": false, "a{b,-c}": true, `"$@"`: false, `"a$@"`: false, "''-x": false, "$'a'": false, "$(x)": false, `"a$(x)"`: true, "''": true,
	} {
		line, err := Parse("x " + word)
		if err != nil {
			t.Fatal(err)
		}
		words := line.Steps[len(line.Steps)-1].Words
		if got := words[1].Operand; got != want {
			t.Errorf("%s: operand %v, want %v", word, got, want)
		}
	}
}

func TestWrappersShowWhatTheyStart(t *testing.T) {
	for src, want := range map[string]string{
		"ls -l":                        "",
		"env":                          "",
		"env A=1 -i B=2 x y":           "x y",
		"env -u A -C /d x":             "x",
		"env -S 'x y' z":               "source env x y z",
		"env - x y":                    "x y",
		"env -iS 'x y'":                "source env x y",
		"env -u A -vS'x y' z":          "source env x y z",
		"env --split='x y'":            "source env x y",
		"env -C /d A=1 -S 'x y'":       "source env x y",
		"su -lc 'x y' bob":             "source x y",
		"script -qc 'x y' /dev/null":   "source x y",
		"script --comm='x y'":          "source x y",
		"setarch x86_64 -R x":          "x86_64 -R x|-R x|x|?",
		"prlimit --nofile=5 x":         "--nofile=5 x|x|?",
		"taskset -c 0 x y":             "x y",
		"chrt -T 5 -r 10 x":            "x",
		"capsh -- -c 'x y'":            "-- -c x y|-c x y|x y|?|source x y",
		"sudo -u bob -E A=1 x -y":      "x -y",
		"sudo --user=bob --login x":    "x",
		"/usr/bin/sudo x":              "x",
		"sudo -- x":                    "x",
		"xargs -0 -n1 -I {} x {}":      "x {}",
		"timeout --signal KILL 5s x y": "x y",
		"nice -n 5 x":                  "x",
		"nice -5 x":                    "x",
		"command -v x":                 "",
		"command -p x":                 "x",
		"find . -name a -exec x {} ;":  "x {}",
		"find . -exec x ; -exec y +":   "x|y",
		"find . -delete":               "rm",
		"find . -name x":               "",
		"bash x.sh -c y":               "",
		"bash -c 'x y' z":              "source x y",
		"bash -o pipefail -ec x":       "source x",
		"bash":                         "?",
		"bash -s x":                    "?",
		"sh -":                         "?",
		"su bob -c 'x'":                "source x",
		"su bob":                       "bob|?",
		"ssh -p 22 host x y":           "source x y",
		"ssh host":                     "",
		"watch -n 1 x y":               "source x y",
		"flock /l -c 'x y'":            "source x y",
		"flock /l x y":                 "x y",
		"strace -o /o -f x":            "x",
		"trap 'x y' EXIT":              "source x y",
		"eval x y":                     "source x y",
		"sudo --unknown x y":           "x y|y|?",
		"sudo $o x":                    "$o x|x|?",
		"setpriv --a b c":              "--a b c|b c|c|?",
	} {
		line, err := Parse(strings.ReplaceAll(src, ";", "\\;"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, in := range Unwrap(line.Steps[0].Words) {
			switch {
			case in.Source != "":
				got = append(got, "source "+in.Source)
			case len(in.Words) > 0:
				got = append(got, Step{Words: in.Words}.Text())
			default:
				got = append(got, "?")
			}
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %q, want %q", src, s, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{"a $(b) <(c) >d", "a <<E\nx\nE\n", "for a in b; do c; done", "[[ a -eq b ]]", "a $'\\x41' \"$b\" ${c:-d}", "env -S 'a b' c"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		line, err := Parse(src)
		if err != nil {
			return
		}
		for _, s := range line.Steps {
			Unwrap(s.Words)
			literal := len(s.Words) > 0 && s.Ask == ""
			var words []string
			for _, w := range s.Words {
				literal = literal && w.Literal
				words = append(words, w.Text)
			}
			if !literal {
				continue
			}
			back, err := Words(Quote(words))
			if err != nil || !slices.Equal(back, words) {
				t.Fatalf("%q: the words %q are read back as %q, %v", src, words, back, err)
			}
		}
	})
}
