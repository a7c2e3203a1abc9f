package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

func TestEditReplacesExactText(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		edits               in
	}{
		{"once", "a b c\n", "a X c\n", edits("f", "b", "X")},
		{"deleted", "a\nb\n", "b\n", edits("f", "a\n", "")},
		{"several, each on the result before", "a b\n", "c c\n", edits("f", "a", "x", "b", "c", "x", "c")},
		{"all", "x x x", "yy yy yy", in{"path": "f", "edits": []in{{"old_string": "x", "new_string": "yy", "replace_all": true}}}},
		{"CRLF kept", "one\r\ntwo\r\n", "one\r\n2\r\n3\r\n", edits("f", "one\ntwo", "one\n2\n3")},
		{"new lines become CRLF", "one two\r\n", "one\r\ntwo\r\n", edits("f", "one two", "one\ntwo")},
		{"mixed endings, CRLF there", "a\nb\r\nc\r\nd\n", "a\nB\r\nC\r\nd\n", edits("f", "b\nc", "B\nC")},
		{"mixed endings, LF there", "a\nb\nc\r\n", "A\nB\nc\r\n", edits("f", "a\nb", "A\nB")},
		{"byte order mark kept", bom + "one\n", bom + "two\n", edits("f", "one", "two")},
		{"invalid bytes kept", "\xff one \xfe\n", "\xff two \xfe\n", edits("f", "one", "two")},
		{"UTF-16 kept", "\xff\xfea\x00\xe9\x00\r\x00\n\x00", "\xff\xfeb\x00\xe9\x00\r\x00\n\x00", edits("f", "aé\n", "bé\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			path := b.write("f", c.before)
			if err := os.Chmod(path, 0o751); err != nil {
				t.Fatal(err)
			}
			b.ok("Read", in{"path": "f"})
			_, r := b.run("Edit", c.edits)
			if got := b.content("f"); got != c.after {
				t.Fatalf("it holds %q, want %q: %s", got, c.after, r.Content[0].Text)
			}
			if info, _ := os.Stat(path); info.Mode().Perm() != 0o751 {
				t.Errorf("the mode is %v", info.Mode())
			}
			d := r.Details.(protocol.ToolDetails)
			if d.Diff == "" || d.Files[0].SHA256 != files.Sum([]byte(c.after)) {
				t.Errorf("details are %+v", d)
			}
		})
	}
}

func TestEditWritesNoUTF8IntoAnotherEncoding(t *testing.T) {
	b := newBench(t)
	b.write("f", "caf\xe9 one\n")
	b.ok("Read", in{"path": "f"})
	b.fails("Edit", edits("f", "one", "zwölf"), "it is not UTF-8", "iconv")
	b.ok("Edit", edits("f", "one", "two"))
	if got := b.content("f"); got != "caf\xe9 two\n" {
		t.Errorf("%q", got)
	}
}

func TestEditFailsWithWhatToDoAndChangesNothing(t *testing.T) {
	const text = "func one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 1\n}\n"
	for _, c := range []struct {
		name  string
		edits in
		want  []string
	}{
		{"not found", edits("f", "func three() {\n\treturn 1", "x"), []string{"not found", "nearest", "func one() {"}},
		{"whitespace", edits("f", "func two() {\n    return 1\n}", "x"), []string{"not found", "only in whitespace", "     5\tfunc two()"}},
		{"misspelt", edits("f", "func tow() {", "x"), []string{"not found", "func two() {"}},
		{"numbers", edits("f", "     5\tfunc two() {", "x"), []string{"line numbers"}},
		{"ambiguous", edits("f", "\treturn 1", "x"), []string{"2 times", "lines 2, 6", "replace_all"}},
		{"overlapping", edits("g", "aa", "b"), []string{"2 times"}},
		{"same", edits("f", "one", "one"), []string{"are the same"}},
		{"all or nothing", edits("f", "one", "1", "three", "3"), []string{"edit 2 of 2", "not found", "Nothing was changed"}},
		{"binary", edits("h", "a", "b"), []string{"binary"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			for name, content := range map[string]string{"f": text, "g": "aaa\n", "h": "a\x00"} {
				path := b.write(name, content)
				b.env.Seen.Note(protocol.FileState{Path: path, SHA256: files.Sum([]byte(content))})
			}
			b.fails("Edit", c.edits, c.want...)
			if got := b.content("f"); got != text {
				t.Errorf("it holds %q", got)
			}
		})
	}
}

func TestEditOfAnUnreadOrChangedFileFails(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.fails("Edit", edits("a.txt", "one", "two"), "have not read it")
	b.ok("Read", in{"path": "a.txt"})
	if text, r := b.run("Bash", in{"command": "echo one more >> a.txt"}); r.IsError {
		t.Fatal(text)
	}
	b.fails("Edit", edits("a.txt", "one", "two"), "has changed since you read it", "Read it again")
}

func TestEditKeepsWhatTheModelKnows(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\ntwo\n")
	b.ok("Read", in{"path": "a.txt", "limit": 1})
	b.ok("Edit", edits("a.txt", "one", "1"))
	b.fails("Write", in{"path": "a.txt", "content": "x"}, "not read all of it")
	b.ok("Read", in{"path": "a.txt"})
	b.ok("Edit", edits("a.txt", "two", "2"))
	b.ok("Edit", edits("a.txt", "1", "one"))
	b.ok("Write", in{"path": "a.txt", "content": "x"})
}

func TestEditThroughALinkChangesItsTarget(t *testing.T) {
	b := newBench(t)
	b.write("AGENTS.md", "one\n")
	symlink(t, "AGENTS.md", filepath.Join(b.root, "CLAUDE.md"))
	b.ok("Read", in{"path": "AGENTS.md"})
	b.ok("Edit", edits("CLAUDE.md", "one", "two"))
	if got := b.content("AGENTS.md"); got != "two\n" {
		t.Errorf("it holds %q", got)
	}
	if info, err := os.Lstat(filepath.Join(b.root, "CLAUDE.md")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

func FuzzReplace(f *testing.F) {
	f.Add("one two\r\nthree\n", "two", "2", false)
	f.Add("a\r\nb\r\n", "a\nb", "x\ny", true)
	f.Add("aaa", "aa", "b", true)
	f.Fuzz(func(t *testing.T, text, old, repl string, all bool) {
		got, n, err := replace(text, []replacement{{old, repl, all}})
		if err != nil {
			if utf8.ValidString(text) && utf8.ValidString(old) && !utf8.ValidString(err.Error()) {
				t.Errorf("the error is not valid UTF-8: %q", err)
			}
			return
		}
		if n < 1 || !all && n != 1 {
			t.Fatalf("%d places", n)
		}
		for _, o := range []string{old, toCRLF(old)} {
			for _, r := range []string{repl, toCRLF(repl)} {
				if strings.Contains(text, o) && got == strings.Replace(text, o, r, n) {
					return
				}
			}
		}
		t.Errorf("replace(%q, %q, %q) = %q", text, old, repl, got)
	})
}
