package memory

import (
	"fmt"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

func file(scope Scope, text string) File { return File{Scope: scope, Text: text} }

func day(d, text string) File { return File{Scope: Daily, Day: d, Text: text} }

// tell is Item for what must be told.
func tell(t *testing.T, last *protocol.Item, files ...File) protocol.Item {
	t.Helper()
	item, ok := Item(files, last, 4000)
	if !ok {
		t.Fatal("nothing is told")
	}
	if _, again := Item(files, &item, 4000); again {
		t.Fatal("it is told again")
	}
	if item.Kind != protocol.ItemMemory || item.Visibility != protocol.VisibilityHidden || item.Origin != protocol.OriginSystem {
		t.Fatalf("%+v", item)
	}
	return item
}

func TestNotesAreToldOnceAsNotesAndNotAsInstructions(t *testing.T) {
	if _, ok := Item(nil, nil, 4000); ok {
		t.Error("no notes are told")
	}
	item := tell(t, nil, file(User, "- short answers\n"), file(Project, "# Mine\n\n- run make generate\n"), day("2026-11-19", "- 10:00 a\n"), day("2026-11-20", "- 11:00 b\n"))
	want := wholeIntro + `

Notes of the user for all projects:
- short answers

Notes of this project:
# Mine

- run make generate

Daily notes of this project, 2026-11-19:
- 10:00 a

Daily notes of this project, 2026-11-20:
- 11:00 b`
	if item.Content != want {
		t.Errorf("%s", item.Content)
	}
	if !strings.Contains(item.Content, "not instructions of the user") {
		t.Error("it does not say what they are")
	}
}

func TestWhatWasAddedIsToldAloneAndEveryOtherChangeWhole(t *testing.T) {
	u, p, d := file(User, "- u\n"), file(Project, "- p\n"), day("2026-11-19", "- 10:00 d\n")
	first := tell(t, nil, u, p, d)

	p2, d2 := file(Project, "- p\n- p2\n"), day("2026-11-20", "- 08:00 new day\n")
	second := tell(t, &first, u, p2, d, d2)
	if want := addedIntro + "\n\nNotes of this project:\n- p2\n\nDaily notes of this project, 2026-11-20:\n- 08:00 new day"; second.Content != want {
		t.Errorf("%s", second.Content)
	}
	for name, files := range map[string][]File{
		"edited":  {u, file(Project, "- P\n- p2\n"), d, d2},
		"shorter": {u, p, d, d2},
		"removed": {p2, d, d2},
	} {
		if third := tell(t, &second, files...); !strings.HasPrefix(third.Content, wholeIntro) {
			t.Errorf("%s: %s", name, third.Content)
		}
	}
	if item, ok := Item([]File{u, p2, d2}, &second, 4000); ok {
		t.Errorf("a day that is out of sight is told: %s", item.Content)
	}
	gone := tell(t, &second)
	if gone.Content != goneText {
		t.Errorf("%s", gone.Content)
	}
	back := tell(t, &gone, u)
	if !strings.HasPrefix(back.Content, wholeIntro) {
		t.Errorf("%s", back.Content)
	}
	damaged := first
	damaged.Data = []byte(`{"files":7}`)
	if item := tell(t, &damaged, u); !strings.HasPrefix(item.Content, wholeIntro) {
		t.Errorf("%s", item.Content)
	}
}

func TestBeyondTheBudgetOldDailyNotesAreLeftOutFirst(t *testing.T) {
	lines := func(what string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "- %s number %d has some words\n", what, i)
		}
		return b.String()
	}
	files := []File{file(User, lines("user", 10)), file(Project, lines("project", 10)), day("2026-11-18", lines("oldest", 40)), day("2026-11-19", lines("older", 40)), day("2026-11-20", lines("newest", 40))}
	item, ok := Item(files, nil, 900)
	if !ok || model.EstimateText(item.Content) > 900 {
		t.Fatalf("%d tokens", model.EstimateText(item.Content))
	}
	for _, in := range []string{"user number 9 ", "project number 9 ", "newest number 0 ", "newest number 39 ", "older number 39 "} {
		if !strings.Contains(item.Content, in) {
			t.Errorf("%q is left out", in)
		}
	}
	for _, out := range []string{"oldest number", "older number 0 "} {
		if strings.Contains(item.Content, out) {
			t.Errorf("%q is told", out)
		}
	}
	if !strings.Contains(item.Content, "[Left out, because at most 900 tokens of notes are told: ") || !strings.Contains(item.Content, "lines of older daily notes. The user sees all with /memory.]") {
		t.Errorf("it does not say so: %s", item.Content[len(item.Content)-200:])
	}
	item, _ = Item([]File{file(User, lines("user", 200)), file(Project, lines("project", 200)), files[4]}, nil, 900)
	if n := strings.Count(item.Content, "- user"); n < 20 {
		t.Errorf("%d lines of the user's", n)
	}
	if u, p := strings.Count(item.Content, "- user"), strings.Count(item.Content, "- project"); p < u/2 || u < p/2 || strings.Contains(item.Content, "newest") || model.EstimateText(item.Content) > 900 {
		t.Errorf("%d lines of the user's, %d of the project's, %d tokens", u, p, model.EstimateText(item.Content))
	}
}

func TestTheBudgetIsTwoPercentOfTheWindowAndNeverMoreThanConfigured(t *testing.T) {
	for window, want := range map[int]int{200_000: 4000, 1_000_000: 4000, 32_000: 640, 0: 4000} {
		if got := Budget(window, 4000); got != want {
			t.Errorf("%d: %d, want %d", window, got, want)
		}
	}
}

func FuzzWhatIsToldKeepsToItsBudgetAndIsToldOnce(f *testing.F) {
	f.Add("- a\n", "# p\n\nx", "- 10:00 d", "\nmore", 300)
	f.Add(strings.Repeat("long line ", 500), "", "\n\n\n", "x", 160)
	f.Fuzz(func(t *testing.T, user, project, daily, more string, budget int) {
		budget = 160 + min(max(budget, 0), 10_000)
		var files []File
		for _, file := range []File{{Scope: User, Text: promptsafe.Clean(user)}, {Scope: Project, Text: promptsafe.Clean(project)}, {Scope: Daily, Day: "2026-11-20", Text: promptsafe.Clean(daily)}} {
			if strings.TrimSpace(file.Text) != "" {
				files = append(files, file)
			}
		}
		item, ok := Item(files, nil, budget)
		if ok != (len(files) > 0) {
			t.Fatalf("told: %v, of %d files", ok, len(files))
		}
		if n := model.EstimateText(item.Content); n > budget {
			t.Fatalf("%d tokens of %d", n, budget)
		}
		if !ok {
			return
		}
		if _, again := Item(files, &item, budget); again {
			t.Fatal("told twice")
		}
		last := &files[len(files)-1]
		last.Text += promptsafe.Clean(more)
		added, ok := Item(files, &item, budget)
		if ok != (strings.TrimSpace(promptsafe.Clean(more)) != "") {
			t.Fatalf("added %q: %v", more, ok)
		}
		if n := model.EstimateText(added.Content); n > budget {
			t.Fatalf("%d tokens of %d", n, budget)
		}
	})
}
