package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

func sessions() []Item {
	return []Item{
		{ID: "a", Title: "Mend the parser of dates", Right: "4m", Detail: "12 messages · scorel", Mark: "●", Tone: Active},
		{ID: "b", Title: "Why does the build take so long?", Right: "2h", Detail: "140 messages · scorel", Mark: "?", Tone: Warn},
		{ID: "c", Title: "日本語のタイトル with wide characters", Right: "3d", Detail: "8 messages · other"},
		{ID: "d", Title: "Locked elsewhere", Right: "5d", Detail: "30 messages · scorel", Disabled: "Another host holds this session (pid 4711)."},
	}
}

func draw(l *List, width, height int) string {
	lines, _ := l.Render(golden.Dark(), width, height)
	return golden.Text(lines)
}

func TestGoldenFrames(t *testing.T) {
	picker := New(Config{Title: "Resume a session", Items: sessions(), Can: Filter | Preview | Delete | Rename, Scopes: []string{"this project", "all"}, Keys: keymap.Default(), TwoLines: true})
	picker.SetPreview("a", []string{"> mend it", "I have mended the parser.", strings.Repeat("long ", 40)})
	golden.Check(t, "sessions", func(th *theme.Theme, width int) []string {
		lines, _ := picker.Render(th, width, 15)
		return lines
	})
	grouped := New(Config{Title: "Models", Can: Filter | Multi, Picked: []string{"2"}, On: "3", Items: []Item{
		{ID: "1", Title: "fast", Group: "Aliases", Detail: "anthropic/claude-haiku-4-5"},
		{ID: "2", Title: "anthropic/claude-sonnet-4-5", Group: "anthropic", Right: "200k"},
		{ID: "3", Title: "anthropic/claude-opus-4-1", Group: "anthropic", Right: "200k"},
		{ID: "4", Title: "openai/gpt-5", Group: "openai", Right: "400k", Disabled: "No key: /login openai keeps one."}}})
	grouped.Insert("a")
	golden.Check(t, "models", func(th *theme.Theme, width int) []string {
		lines, _ := grouped.Render(th, width, 10)
		return lines
	})
	asks := New(Config{Title: "Sessions", Items: sessions(), Can: Delete | Rename | Filter})
	asks.Do(keymap.ListDelete)
	golden.Check(t, "delete", func(th *theme.Theme, width int) []string {
		lines, _ := asks.Render(th, width, 6)
		return lines
	})
	loading := New(Config{Title: "Sessions", Loading: true})
	golden.Check(t, "loading", func(th *theme.Theme, width int) []string {
		lines, _ := loading.Render(th, width, 6)
		return lines
	})
}

func TestTypingShowsTheItemsThatMatchTheBestFirst(t *testing.T) {
	l := New(Config{Can: Filter, Items: []Item{
		{ID: "sentence", Title: "the great escape of rest", Detail: ""},
		{ID: "detail", Title: "other", Detail: "about the parser"},
		{ID: "title", Title: "parser"},
		{ID: "letters", Title: "claude-sonnet-4-5"},
	}})
	for _, tt := range []struct {
		typed string
		want  []string
	}{
		{"parser", []string{"title", "detail"}},
		{"cs45", []string{"letters"}},
		{"SON claude", []string{"letters"}},
		{"gestp", nil}, // letters that lie in several words match nothing
	} {
		l.Do(keymap.ClearInput)
		l.Insert(tt.typed)
		var got []string
		for _, i := range l.shown {
			got = append(got, l.items[i].ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q shows %q, not %q", tt.typed, got, tt.want)
		}
	}
}

func TestTheItemThatIsOnStaysSoWhenItemsCome(t *testing.T) {
	l := New(Config{Items: sessions(), Can: Filter})
	l.Do(keymap.ListDown)
	l.SetItems(append([]Item{{ID: "new", Title: "A new one"}}, sessions()...))
	if l.ID() != "b" {
		t.Errorf("%q is on", l.ID())
	}
	l.SetItems(sessions()[:1])
	if l.ID() != "a" {
		t.Errorf("%q is on after the other one went", l.ID())
	}
	l.SetItems(nil)
	if l.ID() != "" || l.Do(keymap.ListPick).Kind != Nothing {
		t.Errorf("%q is on in an empty list", l.ID())
	}
}

func TestNothingIsDeletedByTheKeyThatAsks(t *testing.T) {
	l := New(Config{Items: sessions(), Can: Delete})
	for range 3 { // a key that is held
		if out := l.Do(keymap.ListDelete); out.Kind != Nothing {
			t.Fatalf("%+v", out)
		}
	}
	if got := draw(l, 80, 5); !strings.Contains(got, "Delete “Mend the parser of dates”?") {
		t.Errorf("not asked:\n%s", got)
	}
	l.Paste("y")
	if out := l.Insert("n"); out.Kind != Nothing {
		t.Errorf("n: %+v", out)
	}
	l.Do(keymap.ListDelete)
	if out := l.Insert("y"); out.Kind != Deleted || out.IDs[0] != "a" {
		t.Errorf("y: %+v", out)
	}
	l.Do(keymap.ListDelete)
	l.SetItems(sessions()[1:]) // it went meanwhile; another one is on
	if out := l.Do(keymap.ListPick); out.Kind != Deleted || out.IDs[0] != "a" {
		t.Errorf("what is deleted is not what was asked about: %+v", out)
	}
}

func TestRenamingEditsTheTitleInPlace(t *testing.T) {
	l := New(Config{Items: sessions(), Can: Rename | Filter})
	l.Do(keymap.ListRename)
	lines, cursor := l.Render(golden.Dark(), 60, 15)
	if got := golden.Text(lines); !strings.Contains(got, "New name: Mend the parser of dates") || cursor == nil || cursor.Y != 1 || cursor.X != 34 {
		t.Errorf("%s cursor %+v", got, cursor)
	}
	l.Do(keymap.KillLineBack)
	if out := l.Do(keymap.ListPick); out.Kind != Nothing {
		t.Errorf("an empty name: %+v", out)
	}
	l.Insert(" Dates\n")
	if out := l.Do(keymap.ListPick); out.Kind != Renamed || out.IDs[0] != "a" || out.Text != "Dates" {
		t.Errorf("%+v", out)
	}
	if l.Typed() != "" {
		t.Errorf("the filter has %q", l.Typed())
	}
}

func TestClosingDropsTheFilterFirst(t *testing.T) {
	l := New(Config{Items: sessions(), Can: Filter, Keys: keymap.Default()})
	l.Insert("parser")
	if text := draw(l, 80, 10); !strings.Contains(text, "esc clear") {
		t.Errorf("the key is not said to clear:\n%s", text)
	}
	if out := l.Do(keymap.ListClose); out.Kind != Nothing || l.Typed() != "" || len(l.shown) != 4 {
		t.Errorf("%+v, typed %q, %d shown", out, l.Typed(), len(l.shown))
	}
	if out := l.Do(keymap.ListClose); out.Kind != Closed {
		t.Errorf("%+v", out)
	}
}

func TestADisabledItemSaysWhyAndIsNotPicked(t *testing.T) {
	l := New(Config{Items: sessions(), On: "d", Can: Multi})
	l.Do(keymap.ListMark)
	if out := l.Do(keymap.ListPick); out.Kind != Nothing {
		t.Errorf("%+v", out)
	}
	if got := draw(l, 60, 15); !strings.Contains(got, "Another host holds this session") {
		t.Errorf("it does not say why:\n%s", got)
	}
}

func TestSeveralArePickedInTheirOrder(t *testing.T) {
	l := New(Config{Items: sessions(), Can: Multi, On: "c"})
	l.Do(keymap.ListMark)
	l.Do(keymap.ListTop)
	l.Do(keymap.ListMark)
	if out := l.Do(keymap.ListPick); out.Kind != Picked || !slices.Equal(out.IDs, []string{"a", "c"}) {
		t.Errorf("%+v", out)
	}
}

func TestReorderingMovesTheItemThatIsOn(t *testing.T) {
	l := New(Config{Items: sessions(), Can: Reorder | Edit, On: "b"})
	if out := l.Do(keymap.ListMoveUp); out.Kind != Reordered || !slices.Equal(out.IDs, []string{"b", "a", "c", "d"}) || l.ID() != "b" {
		t.Errorf("%+v, on %q", out, l.ID())
	}
	if out := l.Do(keymap.ListMoveUp); out.Kind != Nothing {
		t.Errorf("beyond the first: %+v", out)
	}
	if out := l.Do(keymap.ListEdit); out.Kind != Edited || out.IDs[0] != "b" {
		t.Errorf("%+v", out)
	}
}

func TestTheScopeGoesRound(t *testing.T) {
	l := New(Config{Items: sessions(), Scopes: []string{"this project", "all"}})
	if out := l.Do(keymap.ListScope); out.Kind != ScopeTaken || out.Scope != 1 || !strings.Contains(draw(l, 60, 4), "all") {
		t.Errorf("%+v\n%s", out, draw(l, 60, 4))
	}
	if out := l.Do(keymap.ListScope); out.Scope != 0 {
		t.Errorf("%+v", out)
	}
}

func TestEachThingIsAskedForOnce(t *testing.T) {
	var items []Item
	for i := range 100 {
		items = append(items, Item{ID: fmt.Sprint(i), Title: fmt.Sprint("item ", i)})
	}
	l := New(Config{Items: items, Can: Preview | Query | Filter})
	if w := l.Wants(); w != (Wants{Preview: "0"}) {
		t.Errorf("first: %+v", w)
	}
	if w := l.Wants(); w != (Wants{}) {
		t.Errorf("again: %+v", w)
	}
	l.Do(keymap.ListBottom)
	if w := l.Wants(); w != (Wants{Preview: "99", More: true}) {
		t.Errorf("at the end: %+v", w)
	}
	l.SetPreview("0", []string{"text"})
	l.Do(keymap.ListTop)
	if w := l.Wants(); w != (Wants{}) {
		t.Errorf("one that is known: %+v", w)
	}
	l.Insert("5")
	if w := l.Wants(); !w.Asks || w.Typed != "5" || w.Preview != "5" {
		t.Errorf("typed: %+v", w)
	}
}

func TestAPreviewTakesThePlaceOfTheRowsWhereThereIsNoRoomBeside(t *testing.T) {
	l := New(Config{Title: "Sessions", Items: sessions(), Can: Preview | Filter})
	var long []string
	for i := range 50 {
		long = append(long, fmt.Sprint("line ", i))
	}
	l.SetPreview("a", long)
	if got := draw(l, 60, 15); strings.Contains(got, "line 0") || !strings.Contains(got, "Locked elsewhere") {
		t.Errorf("before:\n%s", got)
	}
	l.Do(keymap.ListPreview)
	if got := draw(l, 60, 15); !strings.Contains(got, "line 12") || strings.Contains(got, "Locked") {
		t.Errorf("opened:\n%s", got)
	}
	l.Do(keymap.ListBottom)
	if got := draw(l, 60, 15); !strings.Contains(got, "line 49") {
		t.Errorf("at its end:\n%s", got)
	}
	l.Do(keymap.ListClose)
	l.SetPreview("b", nil)
	l.Do(keymap.ListDown)
	if got := draw(l, 120, 15); !strings.Contains(got, "There is nothing to look at.") {
		t.Errorf("an empty one:\n%s", got)
	}
	l.Do(keymap.ListUp)
	if got := draw(l, 120, 15); !strings.Contains(got, "line 0") || !strings.Contains(got, "Locked elsewhere") {
		t.Errorf("beside:\n%s", got)
	}
}

func TestWhatASearchFoundIsSeenBesideALongTitle(t *testing.T) {
	l := New(Config{Title: "Sessions", Items: []Item{{ID: "a", Title: strings.Repeat("a long title ", 10), Right: "4m", Snippet: []protocol.SnippetPart{{Text: "the "}, {Text: "month", Match: true}, {Text: " is wrong"}}}}})
	for _, width := range []int{40, 60, 120} {
		if got := draw(l, width, 5); !strings.Contains(got, "the month is wrong") {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
}

func TestEveryItemIsSeenWhenItIsOnAtAnySize(t *testing.T) {
	var items []Item
	for i := range 40 {
		items = append(items, Item{ID: fmt.Sprint(i), Title: fmt.Sprintf("item-%02d.", i), Group: []string{"", "one", "two", "three"}[i/10], Detail: "detail"})
	}
	for _, two := range []bool{false, true} {
		for height := 1; height < 20; height++ {
			l := New(Config{Title: "Things", Items: items, TwoLines: two, Can: Filter, Keys: keymap.Default()})
			for range 2 {
				for i := range items {
					lines, cursor := l.Render(golden.Plain(), 50, height)
					golden.Lines(t, lines, 50)
					if len(lines) > height || cursor != nil && cursor.Y >= len(lines) {
						t.Fatalf("%d lines of %d, cursor %+v", len(lines), height, cursor)
					}
					if height >= 3 && !strings.Contains(golden.Text(lines), fmt.Sprintf("> item-%02d.", i)) {
						t.Fatalf("height %d, two lines %v: item %d is not seen:\n%s", height, two, i, golden.Text(lines))
					}
					l.Do(keymap.ListDown)
				}
			}
		}
	}
}

func TestHostileTextsOfItemsStayInTheirRow(t *testing.T) {
	bad := "\x1b]0;title\x07\x1b[2J\u202egnp.exe\r\nsecond\x00line " + strings.Repeat("x", 10_000)
	l := New(Config{Title: bad, Items: []Item{{ID: "a", Title: bad, Detail: bad, Right: bad, Mark: bad, Group: bad, Disabled: bad,
		Snippet: []protocol.SnippetPart{{Text: bad}, {Text: bad, Match: true}}}}, Can: Filter | Delete, Empty: bad})
	l.SetProblem(bad)
	for _, width := range []int{1, 2, 5, 40, 120} {
		lines, _ := l.Render(golden.Dark(), width, 12)
		golden.Lines(t, lines, width)
	}
	l.Do(keymap.ListDelete)
	lines, _ := l.Render(golden.Dark(), 80, 12)
	golden.Lines(t, lines, 80)
}

func TestOnlyWhatIsSeenIsDrawn(t *testing.T) {
	var items []Item
	for i := range MaxItems + 10 {
		items = append(items, Item{ID: fmt.Sprint(i), Title: fmt.Sprint("session about something ", i), Detail: "scorel"})
	}
	l := New(Config{Title: "Sessions", Items: items, Can: Filter})
	if len(l.items) != MaxItems {
		t.Errorf("%d items", len(l.items))
	}
	th := golden.Dark()
	l.Render(th, 80, 20)
	if n := testing.AllocsPerRun(10, func() { l.Render(th, 80, 20) }); n > 1000 {
		t.Errorf("%v allocations to draw 20 rows", n)
	}
}

func BenchmarkTypingInTwentyThousandItems(b *testing.B) {
	var items []Item
	for i := range MaxItems {
		items = append(items, Item{ID: fmt.Sprint(i), Title: fmt.Sprint("session about something ", i), Detail: "in the project scorel"})
	}
	l := New(Config{Items: items, Can: Filter})
	b.ReportAllocs()
	for b.Loop() {
		l.Insert("some 19")
		l.Render(golden.Dark(), 80, 20)
		l.Do(keymap.ClearInput)
	}
}

func TestANameIsEditedWithTheKeysOfTheEditor(t *testing.T) {
	l := New(Config{Items: sessions(), Can: Rename | Delete | Filter})
	r := keymap.Reader{Map: keymap.Default()}
	var out Outcome
	for _, name := range strings.Fields("ctrl+r home N delete end ! ctrl+d left backspace enter") {
		if a, _ := r.Key(name, l.Places()...); a != "" {
			out = l.Do(a)
		} else {
			out = l.Insert(name)
		}
	}
	if out.Kind != Renamed || out.Text != "Nend the parser of date!" {
		t.Errorf("%+v", out)
	}
}

func TestWhatASearchHasFoundIsSeenHoweverNarrowTheListIs(t *testing.T) {
	parts := []protocol.SnippetPart{{Text: "a long sentence stands before what is looked for: "}, {Text: "wombat", Match: true}, {Text: " and after it"}}
	l := New(Config{Title: "Sessions", Items: []Item{{ID: "a", Title: "its title", Right: "now", Snippet: parts}}})
	for _, width := range []int{30, 41, 60, 120} {
		if got := draw(l, width, 5); !strings.Contains(got, "wombat") || !strings.Contains(got, "its ti") {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
}

func TestTheLastLineNamesKeysAlsoOfAnItemThatCannotBePicked(t *testing.T) {
	l := New(Config{Title: "Tasks", Can: Filter | Delete, DeleteWord: "stop", PickWord: "look", Keys: keymap.Default(), Items: []Item{{ID: "a", Title: "one", Disabled: "it is a problem"}, {ID: "b", Title: "two"}}})
	last := func(width int) string {
		lines, _ := l.Render(golden.Plain(), width, 12)
		return strings.TrimRight(lines[len(lines)-1], " ")
	}
	if got := last(60); got != "it is a problem  esc close" {
		t.Errorf("a problem: %q", got)
	}
	if got := last(20); got != "esc close" {
		t.Errorf("narrow: %q", got)
	}
	if lines, _ := l.Render(golden.Plain(), 16, 12); !slices.Contains(lines, "it is a problem") {
		t.Errorf("narrow: %q", lines)
	}
	l.Do(keymap.ListDown)
	if got := last(60); got != "enter look  ctrl+d stop  esc close" {
		t.Errorf("another: %q", got)
	}
	l.Do(keymap.ListDelete)
	if got := last(60); got != "enter stop  esc leave it" {
		t.Errorf("while it asks: %q", got)
	}
	l.Do(keymap.ListClose)
	l.Insert("none such")
	if got := last(60); got != "esc clear" {
		t.Errorf("nothing matches: %q", got)
	}
}

func TestAProblemIsReadWhole(t *testing.T) {
	text := "the file .scorel/skills/review/SKILL.md has no description, so that the skill review is left out"
	l := New(Config{Title: "Skills", Can: Filter, Keys: keymap.Default(), Items: []Item{{ID: "a", Title: text, Mark: "!", Disabled: text}, {ID: "b", Title: "short", Disabled: "short"}}})
	draw := func(width, height int) string {
		lines, _ := l.Render(golden.Plain(), width, height)
		for _, s := range lines {
			if cell.Width(s) > width {
				t.Errorf("%q is wider than %d", s, width)
			}
		}
		if len(lines) > height {
			t.Errorf("%d lines, at most %d", len(lines), height)
		}
		return strings.Join(strings.Fields(strings.Join(lines[max(0, len(lines)-4):], " ")), " ")
	}
	if got := draw(60, 12); !strings.Contains(got, text+" esc close") {
		t.Errorf("%q", got)
	}
	if got := draw(30, 9); !strings.Contains(got, "...") || !strings.HasSuffix(got, "esc close") {
		t.Errorf("a small window: %q", got)
	}
	if got := draw(120, 12); strings.Count(got, "no description") != 1 {
		t.Errorf("twice: %q", got)
	}
	l.Do(keymap.ListDown)
	if got := draw(60, 12); strings.Count(got, "short") != 1 || !strings.HasSuffix(got, "esc close") {
		t.Errorf("a short one: %q", got)
	}
}
