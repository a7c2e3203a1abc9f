package complete

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// line is an Input that begins the text.
func line(text string) Input { return Input{Before: text, First: true} }

// labels returns what is offered.
func labels(l *List) []string {
	var out []string
	for _, it := range l.items {
		out = append(out, it.label)
	}
	return out
}

func wantOffered(t *testing.T, l *List, want ...string) {
	t.Helper()
	if got := labels(l); !slices.Equal(got, want) {
		t.Errorf("offered is %q, want %q", got, want)
	}
}

func wantEdit(t *testing.T, l *List, a keymap.Action, want *Edit) {
	t.Helper()
	got, handled := l.Do(a)
	if !handled {
		t.Errorf("%s was not handled", a)
	}
	if got == nil || want == nil {
		if got != want {
			t.Errorf("%s does %+v, want %+v", a, got, want)
		}
		return
	}
	if *got != *want {
		t.Errorf("%s does %+v, want %+v", a, *got, *want)
	}
}

// asked fails unless a question is what it should be, and returns its number.
func asked(t *testing.T, q *Question, want Question) int {
	t.Helper()
	if q == nil {
		t.Fatalf("nothing was asked, want %+v", want)
	}
	number := q.Number
	if want.Number = number; *q != want {
		t.Fatalf("asked was %+v, want %+v", *q, want)
	}
	return number
}

func hostCommands() *protocol.CommandList {
	return &protocol.CommandList{Commands: []protocol.CommandInfo{
		{Name: "compact", ArgumentHint: "[instructions]", Description: "Summarise what has been said", Source: protocol.CommandBuiltin},
		{Name: "model", ArgumentHint: "[name]", Description: "Show or change the model", Source: protocol.CommandBuiltin, Completes: true},
		{Name: "review-code", Description: "Review the \x1b[31mchanges", Source: protocol.CommandTemplate, Scope: "project"},
		{Name: "deploy", Description: "Deploy", Source: protocol.CommandTemplate, Scope: "project", Refused: "Its shell lines are not trusted as they are now; scorel trust shows them."},
		{Name: "tree", Description: "Of the host", Source: protocol.CommandBuiltin},
	}}
}

func withCommands(t *testing.T) *List {
	t.Helper()
	l := New([]protocol.CommandInfo{{Name: "tree", Description: "Where the conversation has been"}, {Name: "help", Description: "Keys and commands"}})
	q := l.Update(line("/"))
	asked(t, q, Question{Kind: Commands})
	l.Commands(hostCommands())
	return l
}

func TestFilesAreAskedForWithEachLetterAndOldAnswersAreFilteredMeanwhile(t *testing.T) {
	l := New(nil)
	if q := l.Update(line("look at ")); q != nil || l.Open() {
		t.Fatal("something is offered without an @")
	}
	first := asked(t, l.Update(line("look at @")), Question{Kind: Files})
	l.Files(first, &protocol.FileList{Files: []string{"main.go", "main_test.go", "docs/readme.md"}, More: true})
	wantOffered(t, l, "main.go", "main_test.go", "docs/readme.md")

	second := asked(t, l.Update(line("look at @ma")), Question{Kind: Files, Query: "ma"})
	wantOffered(t, l, "main.go", "main_test.go")
	third := asked(t, l.Update(line("look at @mai")), Question{Kind: Files, Query: "mai"})
	l.Files(third, &protocol.FileList{Files: []string{"cmd/main.go", "main.go"}})
	wantOffered(t, l, "cmd/main.go", "main.go")
	// The answer before it comes late and does not count; nor does one that nobody asked for.
	l.Files(second, &protocol.FileList{Files: []string{"ma-late.go"}})
	l.Files(third+1, &protocol.FileList{Files: []string{"mai-forged.go"}})
	wantOffered(t, l, "cmd/main.go", "main.go")
	// An answer to what was typed before is better than none, filtered by what is typed now.
	fourth := asked(t, l.Update(line("look at @mainz")), Question{Kind: Files, Query: "mainz"})
	fifth := asked(t, l.Update(line("look at @main")), Question{Kind: Files, Query: "main"})
	l.Files(fourth, &protocol.FileList{Files: []string{"mainz.go", "other.go"}})
	wantOffered(t, l, "mainz.go")
	l.Files(fifth, &protocol.FileList{Files: []string{"a/main.go"}})
	wantOffered(t, l, "a/main.go")
	// Without an answer nothing is offered, and the next letter asks again.
	sixth := asked(t, l.Update(line("look at @main.")), Question{Kind: Files, Query: "main."})
	l.Files(sixth, nil)
	if l.Open() {
		t.Error("something is offered though the host gave no answer")
	}
	asked(t, l.Update(line("look at @main.g")), Question{Kind: Files, Query: "main.g"})
	// Another place begins again: an answer for the one before does not come there.
	seventh := asked(t, l.Update(line("@")), Question{Kind: Files})
	l.Files(seventh-1, &protocol.FileList{Files: []string{"elsewhere.go"}})
	if l.Open() {
		t.Error("the answer for another place is offered")
	}
}

func TestWhileTheHostStillLooksForFilesItIsAskedOnceMore(t *testing.T) {
	l := New(nil)
	n := asked(t, l.Update(line("@new")), Question{Kind: Files, Query: "new"})
	n = asked(t, l.Files(n, &protocol.FileList{More: true}), Question{Kind: Files, Query: "new"})
	n = asked(t, l.Files(n, &protocol.FileList{Files: []string{"new.go", "newer.go"}, More: true}), Question{Kind: Files, Query: "new"})
	l.Do(keymap.Down)
	if q := l.Files(n, &protocol.FileList{Files: []string{"a/new.go", "new.go", "newer.go"}}); q != nil || l.items[l.on].value != "newer.go" {
		t.Errorf("at the end it asks %+v, and %q is selected", q, l.items[l.on].value)
	}
	// A whole answer is enough, and it does not go on for ever.
	full := &protocol.FileList{Files: slices.Repeat([]string{"x"}, FileHits), More: true}
	if q := l.Files(l.Update(line("@newe")).Number, full); q != nil {
		t.Errorf("with as many as were wanted it asks %+v", *q)
	}
	q := l.Update(line("@newer"))
	for range maxAgain {
		if q = l.Files(q.Number, &protocol.FileList{More: true}); q == nil {
			t.Fatal("it has given up too soon")
		}
	}
	if q = l.Files(q.Number, &protocol.FileList{More: true}); q != nil {
		t.Error("it asks for ever")
	}
}

func TestANameWithBlanksIsQuoted(t *testing.T) {
	l := New(nil)
	for path, want := range map[string]string{
		"plain.go":    "@plain.go ",
		"my file.txt": `@"my file.txt" `,
		"a,b;c.txt":   "@a,b;c.txt ",
		"strange.":    `@"strange." `,
		"päth/世界.go":  "@päth/世界.go ",
		"it's.md":     "@it's.md ",
		"a(1).png":    "@a(1).png ",
	} {
		l.Update(line(""))
		n := l.Update(line("see @p")).Number
		l.Files(n, &protocol.FileList{Files: []string{path}})
		e, _ := l.Do(keymap.Submit)
		if e == nil || e.New != want || e.Old != "@p" {
			t.Errorf("%q becomes %+v, want %q", path, e, want)
		}
	}
	// Within quotation marks blanks belong to the name.
	if tok := read(line(`see @"my fi`)); tok.query != "my fi" || tok.text != `@"my fi` {
		t.Errorf("behind an open quotation mark it looks for %q", tok.query)
	}
}

func TestWhatIsNoMentionAsksNothing(t *testing.T) {
	l := New(nil)
	for _, text := range []string{"mail@host", "(@ma", `x="@ma`, "@main.go and", `@"a b" `, "", "a@", "!"} {
		if q := l.Update(line(text)); q != nil {
			t.Errorf("%q asks %+v", text, *q)
		}
	}
	if q := l.Update(Input{Before: "!cat @ma", First: true, Shell: true}); q != nil {
		t.Errorf("a shell line asks %+v", *q)
	}
	if q := l.Update(line("@" + strings.Repeat("x", maxQuery+1))); q != nil {
		t.Error("a name that the host would refuse is asked for")
	}
	for _, text := range []string{"@ma", "see @ma", "see\t@ma", `see "@ma" @ma`} {
		if q := l.Update(line(text)); q == nil || q.Query != "ma" {
			t.Errorf("%q asks %+v", text, q)
		}
	}
}

func TestCommandsAreAskedForOnceAndFilteredHere(t *testing.T) {
	l := withCommands(t)
	wantOffered(t, l, "/compact", "/deploy", "/help", "/model", "/review-code", "/tree")
	if q := l.Update(line("/c")); q != nil {
		t.Errorf("again %+v is asked", *q)
	}
	wantOffered(t, l, "/compact", "/review-code") // one begins so, of the other a part
	l.Update(line("/cpt"))
	wantOffered(t, l, "/compact")
	if l.Update(line("/tree")); len(l.items) != 1 || l.items[0].about != "Where the conversation has been" {
		t.Errorf("the client's own command is not before the host's: %+v", l.items)
	}
	if l.Update(line("/review")); l.items[0].about != "Review the changes (project template)" {
		t.Errorf("it says %q", l.items[0].about)
	}
	for _, text := range []string{"/usr/bin", "//tree", "x /tree"} {
		if l.Update(line(text)); l.Open() {
			t.Errorf("%q offers %q", text, labels(l))
		}
	}
	if l.Update(Input{Before: "/tr"}); l.Open() {
		t.Error("a slash in another line offers commands")
	}
	l.Forget()
	asked(t, l.Update(line("/m")), Question{Kind: Commands})
	l.Commands(nil) // it could not be had
	asked(t, l.Update(line("/mo")), Question{Kind: Commands})
	wantOffered(t, l, "/model") // what was known still is
}

func TestTabCompletesWhatAllHaveInCommonFirst(t *testing.T) {
	l := New(nil)
	n := l.Update(line("@in")).Number
	l.Files(n, &protocol.FileList{Files: []string{"internal/tui/a.go", "internal/tui/b.go", "main.go"}})
	wantEdit(t, l, keymap.Complete, &Edit{Old: "@in", New: "@internal/tui/"})
	n = l.Update(line("@internal/tui/")).Number
	l.Files(n, &protocol.FileList{Files: []string{"internal/tui/a.go", "internal/tui/b.go"}})
	wantEdit(t, l, keymap.Complete, &Edit{Old: "@internal/tui/", New: "@internal/tui/a.go "})
	// When there are more than came, what these have in common says nothing.
	n = l.Update(line("@i")).Number
	l.Files(n, &protocol.FileList{Files: []string{"internal/a.go", "internal/b.go"}, More: true})
	wantEdit(t, l, keymap.Complete, &Edit{Old: "@i", New: "@internal/a.go "})
	// Who has selected something gets that.
	n = l.Update(line("@int")).Number
	l.Files(n, &protocol.FileList{Files: []string{"internal/a.go", "internal/b.go"}})
	wantEdit(t, l, keymap.Down, nil)
	wantEdit(t, l, keymap.Complete, &Edit{Old: "@int", New: "@internal/b.go "})
	// Blanks open a quotation mark, and characters are not cut.
	n = l.Update(line("@m")).Number
	l.Files(n, &protocol.FileList{Files: []string{"my ä.txt", "my ö.txt"}})
	wantEdit(t, l, keymap.Complete, &Edit{Old: "@m", New: `@"my `})

	l = New([]protocol.CommandInfo{{Name: "memory"}, {Name: "mempool"}, {Name: "x-mem"}})
	l.Update(line("/m"))
	wantEdit(t, l, keymap.Complete, &Edit{Old: "/m", New: "/mem"})
	l.Update(line("/mem"))
	wantEdit(t, l, keymap.Complete, &Edit{Old: "/mem", New: "/memory "})
}

func TestEnterSendsACompleteCommandAndCompletesAnother(t *testing.T) {
	l := withCommands(t)
	l.Update(line("/tree"))
	if e, handled := l.Do(keymap.Submit); handled || e != nil {
		t.Error("Enter on a whole command is not sent")
	}
	l.Update(line("/hel"))
	wantEdit(t, l, keymap.Submit, &Edit{Old: "/hel", New: "/help", Send: true})
	l.Update(line("/mod"))
	wantEdit(t, l, keymap.Submit, &Edit{Old: "/mod", New: "/model "}) // it takes arguments
	l.Update(line("/dep"))
	wantEdit(t, l, keymap.Submit, &Edit{Old: "/dep", New: "/deploy "}) // it would be refused
	n := l.Update(line("see @main.go")).Number
	l.Files(n, &protocol.FileList{Files: []string{"main.go", "main.go.orig"}})
	if _, handled := l.Do(keymap.Submit); handled {
		t.Error("Enter behind a whole file name is not sent")
	}
	wantEdit(t, l, keymap.Down, nil)
	wantEdit(t, l, keymap.Submit, &Edit{Old: "@main.go", New: "@main.go.orig "})
}

func TestArgumentsAreAskedForOnlyWhereTheHostKnowsSome(t *testing.T) {
	l := withCommands(t)
	if q := l.Update(line("/compact now")); q != nil || l.Open() {
		t.Error("arguments of a command without any are asked for")
	}
	l.Update(line("/compact "))
	if l.Hint() != "[instructions]" {
		t.Errorf("the hint is %q", l.Hint())
	}
	n := asked(t, l.Update(line("/model ")), Question{Kind: Arguments, Name: "model"})
	l.Arguments(n, &protocol.CompletionList{Items: []protocol.Completion{{Value: "anthropic/claude", Description: "the first"}, {Value: "openai/gpt", Label: "GPT"}, {Value: "two\nlines"}}})
	wantOffered(t, l, "anthropic/claude", "GPT")
	n = asked(t, l.Update(line("/model gp")), Question{Kind: Arguments, Name: "model", Args: "gp"})
	wantOffered(t, l, "GPT")
	if l.Hint() != "" {
		t.Errorf("with an argument the hint is %q", l.Hint())
	}
	// Enter sends what is typed, which may be anything; Tab takes what is selected.
	if _, handled := l.Do(keymap.Submit); handled {
		t.Error("Enter took an argument that nobody selected")
	}
	wantEdit(t, l, keymap.Complete, &Edit{Old: "gp", New: "openai/gpt"})
	wantEdit(t, l, keymap.Down, nil)
	wantEdit(t, l, keymap.Submit, &Edit{Old: "gp", New: "openai/gpt"})
	l.Arguments(n, nil)
	if l.Open() {
		t.Error("without an answer something is offered")
	}
	// A file may be an argument too.
	asked(t, l.Update(line("/review-code @ma")), Question{Kind: Files, Query: "ma"})
	// Commands that come after the argument has begun lead to the question about it.
	l = New(nil)
	asked(t, l.Update(line("/model g")), Question{Kind: Commands})
	asked(t, l.Commands(hostCommands()), Question{Kind: Arguments, Name: "model", Args: "g"})
}

func TestEscClosesTheListUntilSomethingElseIsTyped(t *testing.T) {
	l := New(nil)
	n := l.Update(line("see @m")).Number
	l.Files(n, &protocol.FileList{Files: []string{"main.go"}})
	wantEdit(t, l, keymap.Cancel, nil)
	if _, handled := l.Do(keymap.Cancel); handled || l.Open() {
		t.Error("a closed list has handled Esc")
	}
	if q := l.Update(line("see @ma")); q != nil || l.Open() {
		t.Error("the closed list came back with the next letter")
	}
	l.Files(n, &protocol.FileList{Files: []string{"main.go"}})
	if l.Open() {
		t.Error("an answer opened a list that was closed")
	}
	if q := l.Update(line("see @ma and @m")); q == nil {
		t.Error("another @ offers nothing")
	}
	l.Dismiss()
	l.Update(line("see "))
	if q := l.Update(line("see @m")); q == nil {
		t.Error("an @ that was typed anew offers nothing")
	}
}

func TestWhatIsSelectedStaysSelectedWhenAnAnswerComes(t *testing.T) {
	l := New(nil)
	first := l.Update(line("@a")).Number
	l.Files(first, &protocol.FileList{Files: []string{"a1", "a2", "a3"}})
	wantEdit(t, l, keymap.Up, nil) // around the end
	if l.items[l.on].value != "a3" {
		t.Fatalf("selected is %q", l.items[l.on].value)
	}
	second := l.Update(line("@a3")).Number
	l.Files(second, &protocol.FileList{Files: []string{"a3", "a33", "a34"}})
	wantEdit(t, l, keymap.Down, nil)
	if q := l.Update(line("@a3")); q != nil || l.items[l.on].value != "a33" {
		t.Error("the same text moved what is selected, or asked again")
	}
	l.Forget()
	l.Files(second, &protocol.FileList{Files: []string{"other"}}) // the same answer twice
	if l.items[l.on].value != "a33" {
		t.Error("an answer was taken twice")
	}
}

// TestNoAnswerOrKeyDoesMoreThanItMay plays random keys, texts and answers, of hosts
// that say anything.
func TestNoAnswerOrKeyDoesMoreThanItMay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(nil)
		before, number := "", 0
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "abc d", "\x1b[2J", "世界" + strings.Repeat("x", 300), "\u202eabc", "a\nb", "", "q\"q", strings.Repeat("long/", 2000)}), 0, 12)
		note := func(q *Question) {
			if q != nil {
				if q.Number <= number {
					t.Fatalf("question %d after %d", q.Number, number)
				}
				number = q.Number
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"type": func(t *rapid.T) {
				before = rapid.SampledFrom([]string{"", "@", "@a", "x @ab", `@"a`, "/", "/a", "/ab ", "/ab a", "!a", "@世"}).Draw(t, "before")
				note(l.Update(line(before)))
			},
			"files": func(t *rapid.T) {
				note(l.Files(rapid.IntRange(0, 40).Draw(t, "number"), &protocol.FileList{Files: names.Draw(t, "names"), More: rapid.Bool().Draw(t, "more")}))
			},
			"arguments": func(t *rapid.T) {
				var items []protocol.Completion
				for _, n := range names.Draw(t, "names") {
					items = append(items, protocol.Completion{Value: n, Description: n})
				}
				l.Arguments(rapid.IntRange(0, 40).Draw(t, "number"), &protocol.CompletionList{Items: items})
			},
			"commands": func(t *rapid.T) {
				var items []protocol.CommandInfo
				for _, n := range names.Draw(t, "names") {
					items = append(items, protocol.CommandInfo{Name: n, Description: n, ArgumentHint: n, Completes: true, Source: protocol.CommandSkill, Scope: n})
				}
				note(l.Commands(&protocol.CommandList{Commands: items}))
			},
			"key": func(t *rapid.T) {
				a := rapid.SampledFrom([]keymap.Action{keymap.Up, keymap.Down, keymap.Complete, keymap.Submit, keymap.Cancel, keymap.Left}).Draw(t, "key")
				was := l.Open()
				e, handled := l.Do(a)
				if handled && !was {
					t.Fatalf("%s was handled by a closed list", a)
				}
				if e != nil {
					if !strings.HasSuffix(before, e.Old) {
						t.Fatalf("%s replaces %q, and %q is typed", a, e.Old, before)
					}
					if strings.ContainsAny(e.New, "\n\r") {
						t.Fatalf("%s breaks the line: %q", a, e.New)
					}
				}
			},
			"": func(t *rapid.T) {
				width, rows := rapid.IntRange(1, 60).Draw(t, "width"), rapid.IntRange(1, 6).Draw(t, "rows")
				checkFrame(t, l.Render(golden.Dark(), width, rows), width, rows)
				if len(l.items) > maxItems {
					t.Fatalf("%d are offered", len(l.items))
				}
			},
		})
	})
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func checkFrame(t failer, lines []string, width, rows int) {
	t.Helper()
	if len(lines) > rows {
		t.Fatalf("%d lines of at most %d", len(lines), rows)
	}
	for _, l := range lines {
		if w := cell.Width(l); w > width {
			t.Fatalf("a line has %d cells of at most %d: %q", w, width, l)
		}
		if strings.ContainsFunc(ansi.Strip(l), func(r rune) bool { return r < ' ' || r == '\u202e' }) {
			t.Fatalf("a line has control characters: %q", l)
		}
	}
}

func TestCompletionFrames(t *testing.T) {
	var files []string
	for i := range 12 {
		files = append(files, fmt.Sprintf("internal/session/history/a_file_with_a_longer_name_%d.go", i))
	}
	scenes := []struct {
		name string
		make func() *List
	}{
		{"commands", func() *List { return withCommands(t) }},
		{"commands, the last selected", func() *List { l := withCommands(t); l.Do(keymap.Up); return l }},
		{"one command", func() *List { l := withCommands(t); l.Update(line("/mo")); return l }},
		{"files", func() *List {
			l := New(nil)
			l.Files(l.Update(line("@a")).Number, &protocol.FileList{Files: files, More: true})
			for range 7 {
				l.Do(keymap.Down)
			}
			return l
		}},
		{"arguments", func() *List {
			l := withCommands(t)
			l.Arguments(l.Update(line("/model ")).Number, &protocol.CompletionList{Items: []protocol.Completion{{Value: "anthropic/claude", Description: "200k"}, {Value: "openai/gpt"}}})
			return l
		}},
	}
	golden.Check(t, "frames", func(th *theme.Theme, width int) (out []string) {
		for _, s := range scenes {
			out = append(append(out, "-- "+s.name), s.make().Render(th, width, 5)...)
		}
		return out
	})
}

func TestWordsWithASignAreAskedForWhereExtensionsOfferSomething(t *testing.T) {
	l := New(nil)
	words := func(text string) Input { return Input{Before: text, First: true, Words: true} }
	if q := l.Update(line("see #1")); q != nil {
		t.Errorf("%+v is asked where nobody offers anything", q)
	}
	for _, text := range []string{"plain", "a ", "x#1", "see #1 then"} {
		if q := l.Update(words(text)); q != nil {
			t.Errorf("%q asks %+v", text, q)
		}
	}
	n := asked(t, l.Update(words("see #1")), Question{Kind: Words, Query: "see #1"})
	l.Words(n, &protocol.CompletionList{Prefix: "#1", Items: []protocol.Completion{{Value: "#12", Label: "#12\x1b[2J", Description: "sky"}, {Value: "a\nb"}, {Value: "#127"}}})
	if len(l.items) != 2 || strings.Contains(l.items[0].label, "\x1b") {
		t.Errorf("%q", labels(l))
	}
	if _, handled := l.Do(keymap.Submit); handled {
		t.Error("Enter takes what nobody has selected")
	}
	wantEdit(t, l, keymap.Down, nil)
	wantEdit(t, l, keymap.Submit, &Edit{Old: "#1", New: "#127"})
	if l.Update(words("see #127")); l.Open() {
		t.Error("what was taken is offered again")
	}
	n = asked(t, l.Update(words("see #127 and #3")), Question{Kind: Words, Query: "see #127 and #3"})
	l.Update(words("see #127 and #3 so"))
	if l.Words(n, &protocol.CompletionList{Prefix: "#3", Items: []protocol.Completion{{Value: "#3"}}}); l.Open() {
		t.Error("a late answer opens the list elsewhere")
	}
}
