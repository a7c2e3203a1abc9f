package editor

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
)

// play types text and does actions: strings that begin with "editor." are actions.
func play(t *testing.T, e *Editor, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if strings.HasPrefix(k, "editor.") {
			e.Do(keymap.Action(k))
			if err := e.Err(); err != nil {
				t.Fatalf("%s: %v", k, err)
			}
		} else if err := e.Insert(k); err != nil {
			t.Fatalf("%q: %v", k, err)
		}
	}
}

// state writes an editor's text with | at the cursor.
func state(e *Editor) string {
	return e.plain(e.text[:e.pos], false) + "|" + e.plain(e.text[e.pos:], false)
}

func wantState(t *testing.T, e *Editor, want string) {
	t.Helper()
	if got := state(e); got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

const (
	left, right, up, down  = string(keymap.Left), string(keymap.Right), string(keymap.Up), string(keymap.Down)
	back, undone, redone   = string(keymap.DeleteBack), string(keymap.Undo), string(keymap.Redo)
	esc, enter, tab        = string(keymap.Cancel), string(keymap.Submit), string(keymap.Complete)
	older, newer, searchUp = string(keymap.HistoryOlder), string(keymap.HistoryNewer), string(keymap.HistorySearch)
)

func TestWhatWasSentIsRecalledWithItsImagesAndPastes(t *testing.T) {
	e := New(Config{})
	play(t, e, "see ")
	if err := e.AddImage("a.png", "image/png", []byte("pixels")); err != nil {
		t.Fatal(err)
	}
	if err := e.Paste(strings.Repeat("line\n", 20)); err != nil {
		t.Fatal(err)
	}
	marked, text, parts := e.Marked(), e.Text(), e.Parts()
	e.Reset()
	if err := e.Recall(marked, text); err != nil {
		t.Fatal(err)
	}
	if got := e.Parts(); !reflect.DeepEqual(got, parts) || e.Marked() != marked {
		t.Errorf("it is %q again: %v, want %v", e.Marked(), got, parts)
	}
	e.Reset()
	if err := e.Recall("never [image: b.png] sent", "never sent"); err != nil || e.Text() != "never sent" {
		t.Errorf("what was not sent so is %q (%v)", e.Text(), err)
	}
}

func TestUndoTakesBackWordByWordAndRedoGivesThemBack(t *testing.T) {
	e := New(Config{})
	for _, r := range "one two  three" {
		play(t, e, string(r))
	}
	for _, want := range []string{"one two  |", "one |", "|"} {
		play(t, e, undone)
		wantState(t, e, want)
	}
	play(t, e, redone, redone)
	wantState(t, e, "one two  |")
	play(t, e, "x", undone, undone, redone)
	wantState(t, e, "one two  |")
	if play(t, e, "y"); e.Do(keymap.Redo) {
		t.Error("something new was typed, and what was undone came back")
	}
	// A run of Backspace is one step, and a motion ends a group.
	e = New(Config{})
	play(t, e, "a", "b", "c", back, back, undone)
	wantState(t, e, "abc|")
	play(t, e, left, right, "d", undone)
	wantState(t, e, "abc|")
}

func TestALongPasteIsAChipThatGoesAsAWholeAndIsSentInFull(t *testing.T) {
	e := New(Config{})
	log := strings.Repeat("line\n", 120)
	play(t, e, "see ")
	if err := e.Paste(log); err != nil {
		t.Fatal(err)
	}
	play(t, e, " please")
	wantState(t, e, "see [pasted 120 lines] please|")
	if got, want := e.Text(), "see "+log+" please"; got != want || e.Size() != len(want) {
		t.Errorf("the text has %d bytes and says %d, want %d", len(got), e.Size(), len(want))
	}
	if got := e.Parts(); len(got) != 1 || got[0].Text != e.Text() {
		t.Errorf("it is sent as %d parts", len(got))
	}
	play(t, e, left, left, left, left, left, left, left, left)
	wantState(t, e, "see |[pasted 120 lines] please")
	play(t, e, right, back)
	wantState(t, e, "see | please")
	if e.Size() != len("see  please") {
		t.Errorf("without the chip it says %d bytes", e.Size())
	}
	play(t, e, undone)
	wantState(t, e, "see [pasted 120 lines]| please")
	play(t, e, tab)
	if got := state(e); got != "see "+log+"| please" {
		t.Errorf("expanded it is %.40q", got)
	}
	play(t, e, undone)
	wantState(t, e, "see [pasted 120 lines]| please")
	if e.Do(keymap.TextStart); e.Do(keymap.Complete) {
		t.Error("something was expanded where no chip is")
	}
	// A second one like it has another name; a short paste is text.
	if err := e.Paste(log); err != nil {
		t.Fatal(err)
	}
	if err := e.Paste("short\r\nlines\r"); err != nil {
		t.Fatal(err)
	}
	wantState(t, e, "[pasted 120 lines #2]short\nlines\n|see [pasted 120 lines] please")
	if err := e.Paste(strings.Repeat("x", chipRunes+1)); err != nil || !strings.Contains(state(e), "[pasted 1001 characters]|") {
		t.Errorf("one long line: %v, %q", err, state(e))
	}
}

func TestWhatIsTooLongIsRefusedAsAWholeWithASentence(t *testing.T) {
	e := New(Config{})
	play(t, e, "keep")
	mega := strings.Repeat("0123456789abcde\n", MaxText/16)
	if err := e.Paste(mega); err == nil || !strings.Contains(err.Error(), "4 MB") {
		t.Fatalf("%d bytes more: %v", len(mega), err)
	}
	if err := e.Insert(mega); err == nil {
		t.Fatal("typed text over the bound was taken")
	}
	wantState(t, e, "keep|")
	if err := e.Paste(mega[:len(mega)-4]); err != nil {
		t.Fatalf("up to the bound: %v", err)
	}
	for _, a := range []keymap.Action{keymap.NewLine} {
		if e.Do(a); e.Err() == nil {
			t.Errorf("%s took the text over the bound", a)
		}
	}
	play(t, e, back)
	wantState(t, e, "keep|")
	if len(e.chips) == 0 || e.Do(keymap.Undo) && e.Size() != MaxText {
		t.Errorf("the deleted paste does not come back: %d bytes", e.Size())
	}
	play(t, e, string(keymap.KillLineBack))
	if err := e.Set(mega[:MaxText-10]); err != nil {
		t.Fatal(err)
	}
	if e.Do(keymap.Yank); e.Err() == nil || e.Size() != MaxText-10 {
		t.Errorf("a yank over the bound left %d bytes", e.Size())
	}
}

func TestImagesAndFilesAreSentInTheirPlaces(t *testing.T) {
	e := New(Config{})
	play(t, e, "what is ")
	if err := e.AddImage("/tmp/\x1b[2Jshot.png", "image/png", []byte("PNG")); err != nil {
		t.Fatal(err)
	}
	play(t, e, " beside ")
	if err := e.AddFile(strings.Repeat("long/", 20)+"a.pdf", "application/pdf", []byte("PDF")); err != nil {
		t.Fatal(err)
	}
	play(t, e, "?")
	wantState(t, e, "what is [image: /tmp/shot.png] beside [file: …ong/long/long/long/long/long/long/a.pdf]?|")
	want := []Part{{Kind: Text, Text: "what is "}, {Image, "", "/tmp/\x1b[2Jshot.png", "image/png", []byte("PNG")}, {Kind: Text, Text: " beside "},
		{File, "", strings.Repeat("long/", 20) + "a.pdf", "application/pdf", []byte("PDF")}, {Kind: Text, Text: "?"}}
	if got := e.Parts(); !reflect.DeepEqual(got, want) {
		t.Errorf("it is sent as %+v", got)
	}
	// Edited elsewhere it still has them, but for the one whose name was taken out.
	if err := e.Set(strings.Replace(strings.Replace(e.Text(), "what", "who", 1), "[file", "[no file", 1)); err != nil {
		t.Fatal(err)
	}
	if got := e.Parts(); len(got) != 3 || got[0].Text != "who is " || got[1].Kind != Image || !strings.HasPrefix(got[2].Text, " beside [no file: …") {
		t.Errorf("edited elsewhere it is sent as %+v", got)
	}
	if err := e.AddImage("big", "image/png", make([]byte, MaxAttachment+1)); err == nil {
		t.Error("an image over the bound was taken")
	}
	e.Reset()
	big := make([]byte, MaxAttachment)
	if err := e.AddImage("1", "image/png", big); err != nil {
		t.Fatal(err)
	}
	if err := e.AddImage("2", "image/png", big); err != nil {
		t.Fatal(err)
	}
	if err := e.AddImage("3", "image/png", []byte("x")); err == nil {
		t.Error("more images than the bound were taken")
	}
	// What was deleted makes room, though it can then no longer be undone.
	play(t, e, back)
	if err := e.AddImage("4", "image/png", []byte("x")); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
	wantState(t, e, "[image: 1][image: 4]|")
}

func TestTooManyChipsAreRefusedAndThoseThatNobodyNamesAreForgotten(t *testing.T) {
	e := New(Config{})
	for i := range maxChips {
		if err := e.AddFile(fmt.Sprint(i), "", nil); err != nil {
			t.Fatalf("number %d: %v", i, err)
		}
	}
	before := state(e)
	if err := e.AddFile("more", "", nil); err == nil || state(e) != before {
		t.Errorf("one more: %v, %q", err, state(e))
	}
	e.Reset()
	for range 3 * maxSent {
		if err := e.AddFile("again", "", nil); err != nil {
			t.Fatal(err)
		}
		e.Reset()
	}
	if len(e.chips) > maxChips || len(e.sent) > maxSent {
		t.Errorf("%d chips and %d sent texts are kept", len(e.chips), len(e.sent))
	}
}

func TestHistoryKeepsTheDraftAndWhatIsChangedOnTheWay(t *testing.T) {
	asked := 0
	e := New(Config{History: func() []string { asked++; return []string{"first", "second\nline", "third"} }})
	play(t, e, "dra", "ft", left, left)
	if play(t, e, up); state(e) != "third|" {
		t.Fatalf("one back: %q", state(e))
	}
	play(t, e, "!", older)
	wantState(t, e, "second\nline|")
	play(t, e, up) // within the text
	wantState(t, e, "seco|nd\nline")
	play(t, e, up)
	wantState(t, e, "first|")
	if e.Do(keymap.Up) {
		t.Error("there is something before the first")
	}
	play(t, e, newer, newer)
	wantState(t, e, "third!|")
	play(t, e, down)
	wantState(t, e, "dra|ft")
	if e.Do(keymap.HistoryNewer) || asked != 1 {
		t.Errorf("newer than the draft; history was asked %d times", asked)
	}
	if play(t, e, undone); e.Text() != "" {
		t.Errorf("the draft's undo gave %q", e.Text())
	}
	// Without any there is none, and Up is free for something else.
	if e := New(Config{History: func() []string { return nil }}); e.Do(keymap.Up) || e.Do(keymap.HistoryOlder) {
		t.Error("Up without history was handled")
	}
}

func TestADraftThatWasLeftForAnOlderInputCanBeHadBack(t *testing.T) {
	history := func() []string { return []string{"older", "old"} }
	yank := string(keymap.Yank)
	e := New(Config{History: history})
	play(t, e, "draft", up)
	e.Reset() // the older one was sent
	play(t, e, yank)
	wantState(t, e, "draft|")
	e = New(Config{History: history})
	play(t, e, "draft", up, string(keymap.ClearInput), yank)
	wantState(t, e, "draft|")
	// A search on the way back: Esc goes on where it was, and what is taken can be undone.
	e = New(Config{History: history})
	play(t, e, "draft", up, "!", searchUp, "older", esc)
	wantState(t, e, "old!|")
	play(t, e, down)
	wantState(t, e, "draft|")
	play(t, e, up, searchUp, "older", enter, undone)
	if e.Text() != "draft" {
		t.Errorf("undone, it is %q", e.Text())
	}
}

func TestHistoryGivesASentPasteBackInFull(t *testing.T) {
	var sent []string
	e := New(Config{History: func() []string { return sent }})
	long := strings.Repeat("x\n", 40)
	play(t, e, "look: ")
	if err := e.Paste(long); err != nil {
		t.Fatal(err)
	}
	sent = append(sent, e.Marked())
	e.Reset()
	play(t, e, up)
	wantState(t, e, "look: [pasted 40 lines]|")
	if e.Text() != "look: "+long {
		t.Errorf("it would be sent as %q", e.Text())
	}
	play(t, e, searchUp, "pasted")
	if e.Text() != "look: "+long {
		t.Errorf("found, it would be sent as %q", e.Text())
	}
	// Also when it was not sent but cleared away.
	e = New(Config{History: func() []string { return sent }})
	if err := e.Paste(long); err != nil {
		t.Fatal(err)
	}
	sent = append(sent, e.Marked())
	play(t, e, string(keymap.ClearInput), up)
	if e.Text() != long {
		t.Errorf("cleared, it would be sent as %q", e.Text())
	}
}

func TestSearchGoesBackWithEachKeyAndEscGivesTheDraftBack(t *testing.T) {
	e := New(Config{History: func() []string {
		return []string{"fix the Parser", "run tests", "fix the lexer", "run tests", "deploy"}
	}})
	play(t, e, "dr", "aft", left, searchUp, "f")
	wantState(t, e, "|fix the lexer")
	play(t, e, "ix the p")
	wantState(t, e, "|fix the Parser")
	play(t, e, "?")
	wantState(t, e, "|fix the Parser") // nothing has that, and what was found stays
	if !e.search.failed {
		t.Error("it does not say that nothing was found")
	}
	play(t, e, back)
	if e.search.failed || state(e) != "|fix the Parser" {
		t.Errorf("without the last letter: failed %v, %q", e.search.failed, state(e))
	}
	play(t, e, esc)
	wantState(t, e, "draf|t")
	// The same once more is no news, and capitals count when there are some.
	play(t, e, searchUp, "t", searchUp)
	if got := state(e); got != "fix |the lexer" {
		t.Errorf("the next older one with a t is %q", got)
	}
	play(t, e, newer)
	wantState(t, e, "run |tests")
	play(t, e, esc, searchUp, "P", enter)
	wantState(t, e, "fix the Parser|")
	if e.Searching() {
		t.Error("Enter has not ended the search")
	}
	play(t, e, undone)
	if e.Text() != "draft" {
		t.Errorf("undone, it is %q", e.Text())
	}
	// A motion takes what was found and moves in it.
	play(t, e, searchUp, "run", string(keymap.LineEnd), "!")
	wantState(t, e, "run tests!|")
	// An emptied search shows the draft, and Enter leaves it.
	play(t, e, searchUp, "x", back, enter)
	wantState(t, e, "run tests!|")
}

func TestWhatIsTypedSaysWhatItIsFor(t *testing.T) {
	for text, want := range map[string]struct {
		mode Mode
		rest string
	}{
		"":                {Message, ""},
		"hello":           {Message, "hello"},
		"!ls -l":          {Shell, "ls -l"},
		"!! env":          {ShellApart, "env"},
		"/":               {Command, ""},
		"/model gpt":      {Command, "model gpt"},
		"/usr/bin is big": {Message, "/usr/bin is big"},
		"//x":             {Message, "//x"},
		"/ x":             {Message, "/ x"},
		"# use tabs":      {NoteHere, "use tabs"},
		"## be brief":     {NoteUser, "be brief"},
		"#":               {NoteHere, ""},
		"#hash":           {Message, "#hash"},
		"# Title\n\ntext": {Message, "# Title\n\ntext"},
		"\\# x":           {Message, "\\# x"},
		" !x":             {Message, " !x"},
	} {
		e := New(Config{})
		play(t, e, text)
		if mode, rest := e.Mode(); mode != want.mode || rest != want.rest {
			t.Errorf("%q is %d %q, want %d %q", text, mode, rest, want.mode, want.rest)
		}
	}
	for text, want := range map[string]string{"//x": "/x", "\\# x": "# x", "\\## x": "## x", "\\!x": "!x", "\\d+": "\\d+", "\\#1": "\\#1", "a//b": "a//b"} {
		e := New(Config{})
		if play(t, e, text); e.Parts()[0].Text != want {
			t.Errorf("%q is sent as %q, want %q", text, e.Parts()[0].Text, want)
		}
	}
	e := New(Config{})
	play(t, e, "!")
	if err := e.Paste("grep -q \\\n" + strings.Repeat("x\n", 20)); err != nil {
		t.Fatal(err)
	}
	if _, rest := e.Mode(); !strings.HasSuffix(rest, "x\nx") || strings.Contains(rest, "[pasted") {
		t.Errorf("a pasted command is run as %q", rest)
	}
}

func TestABackslashBeforeEnterIsANewLine(t *testing.T) {
	e := New(Config{})
	play(t, e, "one\\")
	if !e.Do(keymap.Submit) {
		t.Error("it is sent")
	}
	wantState(t, e, "one\n|")
	if e.Do(keymap.Submit) {
		t.Error("Enter is the editor's")
	}
}

func TestWhatStandsBeforeTheCursorIsCompleted(t *testing.T) {
	e := New(Config{})
	play(t, e, "first\nsee @ma, ok", left, left, left, left)
	if before, first := e.Before(); before != "see @ma" || first {
		t.Errorf("before the cursor: %q, the beginning %v", before, first)
	}
	if e.ReplaceBefore("@mx", "@main.go") || !e.ReplaceBefore("@ma", "@main.go ") {
		t.Error("what was to be replaced was not looked at")
	}
	wantState(t, e, "first\nsee @main.go |, ok")
	play(t, e, undone)
	wantState(t, e, "first\nsee @ma|, ok")
	e = New(Config{})
	play(t, e, "/mo")
	if before, first := e.Before(); before != "/mo" || !first {
		t.Errorf("before the cursor: %q, the beginning %v", before, first)
	}
	if err := e.AddImage("x", "image/png", nil); err != nil {
		t.Fatal(err)
	}
	play(t, e, "@a")
	if before, first := e.Before(); before != "@a" || first {
		t.Errorf("behind a chip: %q, the beginning %v", before, first)
	}
}

func TestKeysOfVi(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"one two three", "bb", "one |two three"},
		{"one two three", "0wdw", "one |three"},
		{"one two three", "0cwX\x1b", "|X two three"},
		{"one two three", "02dw", "|three"},
		{"one two three", "0d2w", "|three"},
		{"one two three", "0we", "one tw|o three"},
		{"one two three", "0wde", "one | three"},
		{"one two three", "bD", "one two| "},
		{"one two three", "bCx\x1b", "one two |x"},
		{"one two three", "^x", "|ne two three"},
		{"one two three", "03x", "| two three"},
		{"one two three", "0fed", "on|e two three"},
		{"one two three", "0ft;;", "one two |three"},
		{"one two three", "0tt", "one| two three"},
		{"one two three", "0dte", "|e two three"},
		{"one two three", "$Fodh", "one t|o three"},
		{"one two three", "0fo,", "|one two three"},
		{"one two three", "$Fo,", "one tw|o three"},
		{"one two one", "0fo;,", "one tw|o one"},
		{"one-two", "0w", "one|-two"},
		{"a\nb\nc", "ggdd", "|b\nc"},
		{"a\nb\nc", "dd", "a\n|b"},
		{"a\nb\nc", "ggyyGp", "a\nb\nc\n|a"},
		{"a\nb\nc", "ggyyp", "a\n|a\nb\nc"},
		{"a\nb\nc", "GyyggP", "|c\na\nb\nc"},
		{"a\nb\nc", "gg2dd", "|c"},
		{"a\nb\nc", "ggdj", "|c"},
		{"a\nb\nc", "dk", "|a"},
		{"a\nb\nc", "2Gx", "a\n|\nc"},
		{"  ab\ncd", "ggddp", "cd\n  |ab"},
		{"ab\ncd", "ccxy\x1b", "ab\nx|y"},
		{"ab\ncd", "ggoX\x1b", "ab\n|X\ncd"},
		{"ab\ncd", "OX\x1b", "ab\n|X\ncd"},
		{"  ab", "IX\x1b", "  |Xab"},
		{"ab", "0AX\x1b", "ab|X"},
		{"ab", "0aX\x1b", "a|Xb"},
		{"ab cd ef", "0dw.", "|ef"},
		{"ab cd ef", "0cwX\x1bw.", "X |X ef"},
		{"ab cd ef", "0xu", "|ab cd ef"},
		{"ab cd ef", "0xxuu", "|ab cd ef"},
		{"ab", "0xp", "b|a"},
		{"ab", "0x3p", "baa|a"},
		{"ab", "0iX\x1bl.", "X|Xab"},
		{"世界人", "0x", "|界人"},
		{"one two", "0ywP", "one| one two"},
		{"ab\n\ncd", "ggjdd", "ab\n|cd"},
		{"abc", "S", "|"},
		{"abc", "0sX\x1b", "|Xbc"},
		{"one two", "d5k", "one tw|o"},
		{"one", "0d", "|one"},
		{"one", "zQ0", "|one"},
		{"one", "0999999999x", "|"},
	} {
		e := New(Config{Vim: true})
		play(t, e, c.text, esc)
		for i, part := range strings.Split(c.keys, "\x1b") {
			if i > 0 {
				play(t, e, esc)
			}
			for _, r := range part {
				play(t, e, string(r))
			}
		}
		if got := state(e); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
	e := New(Config{Vim: true})
	play(t, e, "abc", esc)
	if _, c := e.Render(plain(), 20, 1); !c.Block {
		t.Error("the cursor of the normal mode is no block")
	}
	if e.Do(keymap.Cancel) {
		t.Error("Esc with nothing open is not free for something else")
	}
	play(t, e, "x", searchUp)
	wantState(t, e, "a|b")
	play(t, e, "u", searchUp) // Ctrl-R does again
	wantState(t, e, "a|b")
	play(t, e, "2")
	if !e.Do(keymap.Cancel) || state(e) != "a|b" {
		t.Error("Esc does not end a command that has begun")
	}
}

func TestAMegabyteStaysFastToType(t *testing.T) {
	// What a key press costs is counted, not timed: rows that are wrapped again.
	e := New(Config{})
	if err := e.Set(strings.Repeat("some words of prose, ", 1<<20/21)); err != nil {
		t.Fatal(err)
	}
	play(t, e, string(keymap.TextStart))
	for range 10_000 {
		e.Do(keymap.Down)
	}
	e.Render(plain(), 80, 10)
	allocated := testing.AllocsPerRun(10, func() {
		play(t, e, "x", back)
		e.Render(plain(), 80, 10)
	})
	if allocated > 1000 {
		t.Errorf("a key press in a text of a megabyte allocates %v times", allocated)
	}
}

func plain() *theme.Theme { return &theme.Theme{Box: theme.Box{Arrow: ">", Ellipsis: "~"}} }

func TestEditorFrames(t *testing.T) {
	history := func() []string { return []string{"fix the parser, then run all of its tests"} }
	scenes := []struct {
		name   string
		make   func(e *Editor)
		height int
	}{
		{"placeholder", func(e *Editor) { e.SetGhost("Ask anything, @ for files, / for commands") }, 4},
		{"message", func(e *Editor) { play(t, e, "Explain what the lane does when two clients send at once, and why.") }, 4},
		{"wide", func(e *Editor) {
			play(t, e, "世界の人々 👨‍👩‍👧 e\u0301 \u202eabc\x1b[31m tab\there 🇩🇪", left)
		}, 4},
		{"shell", func(e *Editor) { play(t, e, "!git status --short") }, 4},
		{"shell apart", func(e *Editor) { play(t, e, "!!env") }, 4},
		{"command", func(e *Editor) { play(t, e, "/model "); e.SetGhost("[name]") }, 4},
		{"note", func(e *Editor) { play(t, e, "# use tabs") }, 4},
		{"chips", func(e *Editor) {
			play(t, e, "see ")
			if err := e.Paste(strings.Repeat("x\n", 120)); err != nil {
				t.Fatal(err)
			}
			play(t, e, " and ")
			if err := e.AddImage("shot.png", "image/png", nil); err != nil {
				t.Fatal(err)
			}
		}, 4},
		{"scrolled", func(e *Editor) {
			for i := range 9 {
				play(t, e, fmt.Sprintf("line %d", i+1), string(keymap.NewLine))
			}
			play(t, e, up, up, up, up)
		}, 4},
		{"search", func(e *Editor) { play(t, e, searchUp, "parser") }, 4},
		{"search in vain", func(e *Editor) { play(t, e, "draft", searchUp, "zebra") }, 4},
	}
	golden.Check(t, "frames", func(th *theme.Theme, width int) (out []string) {
		styled := *th
		styled.Chip, styled.UserMark = th.Strong, th.Accent
		for _, s := range scenes {
			e := New(Config{History: history})
			e.Height(width)
			s.make(e)
			lines, cursor := e.Render(&styled, width, s.height)
			checkFrame(t, e, width, s.height)
			out = append(append(out, fmt.Sprintf("-- %s: cursor %d,%d", s.name, cursor.X, cursor.Y)), lines...)
		}
		return out
	})
}

func BenchmarkTypingInAMegabyte(b *testing.B) {
	for name, text := range map[string]string{
		"prose":    strings.Repeat("some words of prose, ", 1<<20/21),
		"one word": strings.Repeat("x", 1<<20),
		"lines":    strings.Repeat("short\n", 1<<20/6),
		"cyrillic": strings.Repeat("слова и снова слова ", 1<<20/36),
	} {
		e := New(Config{})
		if err := e.Set(text); err != nil {
			b.Fatal(err)
		}
		th := plain()
		for _, at := range []keymap.Action{keymap.TextStart, keymap.TextEnd} {
			e.Do(at)
			b.Run(name+" "+string(at), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					if err := e.Insert("x"); err != nil {
						b.Fatal(err)
					}
					e.Render(th, 80, 10)
					e.Do(keymap.DeleteBack)
					e.Render(th, 80, 10)
				}
			})
		}
	}
}
