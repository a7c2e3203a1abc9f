package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
)

const (
	projectDir = "/s/memory/projects/project-0123456789ab/"
	mine       = "# Mine\n- by hand\n"
)

// shelf is a file system with a project's notes and two days of daily ones.
func shelf() *disktest.Mem {
	mem := disktest.NewMem()
	mem.Put(projectDir+"MEMORY.md", []byte(mine))
	mem.Put(projectDir+"daily/2026-11-18.md", []byte("- 10:00 chose sqlite\n"))
	mem.Put(projectDir+"daily/2026-11-19.md", []byte("- 11:00 sqlite is too slow\n"))
	mem.Put(projectDir+"daily/2026-11-20.md", []byte("- 12:00 today\n"))
	return mem
}

// says is a summariser that keeps what it was given.
func says(answer string, drafts *[]Draft) func(context.Context, Draft) (string, error) {
	return func(_ context.Context, d Draft) (string, error) {
		if drafts != nil {
			*drafts = append(*drafts, d)
		}
		return answer, nil
	}
}

// at is a store whose clock stands so many days after noon.
func at(fsys disk.FS, days int) *Store {
	s := store(fsys, "/s/memory")
	s.cfg.Now = func() time.Time { return noon.AddDate(0, 0, days) }
	return s
}

func marked(summary string) string { return sectionBegin + "\n" + summary + "\n" + sectionEnd + "\n" }

func TestDailyNotesOfEarlierDaysBecomeTheSummaryAndAreSetAside(t *testing.T) {
	mem := shelf()
	var drafts []Draft
	n, err := at(mem, 0).Consolidate(t.Context(), 10_000, says("```\n- files, because sqlite is too slow\n```\n", &drafts))
	if err != nil || n != 2 || len(drafts) != 1 {
		t.Fatalf("%d %v %+v", n, err, drafts)
	}
	if d := drafts[0]; d.Summary != "" || len(d.Days) != 2 || d.Days[0].Day != "2026-11-18" || d.Days[1].Text != "- 11:00 sqlite is too slow\n" {
		t.Errorf("%+v", d)
	}
	for name, want := range map[string]string{
		"MEMORY.md":                   mine + marked("- files, because sqlite is too slow"),
		"MEMORY.md.previous":          mine,
		"daily/archive/2026-11-18.md": "- 10:00 chose sqlite\n",
		"daily/archive/2026-11-19.md": "- 11:00 sqlite is too slow\n",
		"daily/2026-11-18.md":         "",
		"daily/2026-11-20.md":         "- 12:00 today\n",
	} {
		if got := string(mem.Bytes(projectDir + name)); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	// The next day it is a summary that grows; what people wrote around it stays.
	mem.Put(projectDir+"MEMORY.md", []byte(mine+marked("- files, because sqlite is too slow")+"- and behind it\n"))
	n, err = at(mem, 1).Consolidate(t.Context(), 10_000, says("- files\n- today was good", &drafts))
	if err != nil || n != 1 || drafts[1].Summary != "- files, because sqlite is too slow" {
		t.Fatalf("%d %v %+v", n, err, drafts)
	}
	if got, want := string(mem.Bytes(projectDir+"MEMORY.md")), mine+marked("- files\n- today was good")+"- and behind it\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAProjectIsConsolidatedOnceADayWhateverComesOfIt(t *testing.T) {
	mem := shelf()
	var drafts []Draft
	broken := errors.New("the model is gone")
	_, err := at(mem, 0).Consolidate(t.Context(), 10_000, func(_ context.Context, d Draft) (string, error) {
		drafts = append(drafts, d)
		return "", broken
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := at(mem, 0).Consolidate(t.Context(), 10_000, says("- x", &drafts)); n != 0 || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	if len(drafts) != 1 {
		t.Errorf("asked %d times on one day", len(drafts))
	}
	if n, err := at(mem, 1).Consolidate(t.Context(), 10_000, says("- x", &drafts)); n != 3 || err != nil || len(drafts) != 2 {
		t.Errorf("the next day: %d %v, asked %d times", n, err, len(drafts))
	}
	if n, err := at(mem, 2).Consolidate(t.Context(), 10_000, says("- x", &drafts)); n != 0 || err != nil || len(drafts) != 2 {
		t.Errorf("with nothing to do: %d %v, asked %d times", n, err, len(drafts))
	}
	empty := disktest.NewMem()
	empty.Put("/s/x", nil)
	if n, err := at(empty, 0).Consolidate(t.Context(), 10_000, says("- x", &drafts)); n != 0 || err != nil || len(drafts) != 2 {
		t.Errorf("without notes: %d %v", n, err)
	}
	if list, err := empty.ReadDir("/s"); err != nil || len(list) != 1 {
		t.Errorf("without notes something was made: %v %v", list, err)
	}
}

func TestASummaryThatIsNoneChangesNothing(t *testing.T) {
	for answer, wants := range map[string]string{
		"":                                    "was empty",
		" \n```\n" + sectionBegin + "\n```\n": "was empty",
		strings.Repeat("words and ", 7000):    "at most 65536",
		"- the api_key: 0a1b2c3d4e5f":         "a password or a key",
	} {
		mem := shelf()
		n, err := at(mem, 0).Consolidate(t.Context(), 10_000, says(answer, nil))
		if n != 0 || err == nil || !strings.Contains(err.Error(), wants) || strings.Contains(err.Error(), "0a1b") {
			t.Errorf("%.20q: %d %v", answer, n, err)
		}
		if string(mem.Bytes(projectDir+"MEMORY.md")) != mine || mem.Bytes(projectDir+"daily/2026-11-18.md") == nil || mem.Bytes(projectDir+"MEMORY.md.previous") != nil {
			t.Errorf("%.20q: something was changed", answer)
		}
	}
}

func TestLongLinesOfASummaryAreBroken(t *testing.T) {
	mem := shelf()
	if _, err := at(mem, 0).Consolidate(t.Context(), 10_000, says(strings.Repeat("word ", 900)+"\n"+strings.Repeat("ä", 1500), nil)); err != nil {
		t.Fatal(err)
	}
	text := string(mem.Bytes(projectDir + "MEMORY.md"))
	for _, line := range strings.Split(text, "\n") {
		if len(line) > MaxLine || strings.Contains(line, "\uFFFD") {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if strings.Count(text, "word") != 900 || strings.Count(text, "ä") != 1500 {
		t.Error("words are lost")
	}
}

func TestWhatIsWrittenWhileTheModelIsAskedStays(t *testing.T) {
	mem := shelf()
	s := at(mem, 0)
	_, err := s.Consolidate(t.Context(), 10_000, func(context.Context, Draft) (string, error) {
		add(t, s, Project, "meanwhile")
		mem.Put(projectDir+"daily/2026-11-18.md", []byte("- 10:00 chose SQLITE\n")) // as long as it was
		return "- a summary", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(mem.Bytes(projectDir+"MEMORY.md")), mine+"- meanwhile\n"+marked("- a summary"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(mem.Bytes(projectDir + "daily/2026-11-18.md")); !strings.HasSuffix(got, "SQLITE\n") {
		t.Errorf("the day that was changed: %q", got)
	}
	if mem.Bytes(projectDir+"daily/archive/2026-11-19.md") == nil {
		t.Error("the day that was not changed is not set aside")
	}

	_, err = at(mem, 1).Consolidate(t.Context(), 10_000, func(context.Context, Draft) (string, error) {
		mem.Put(projectDir+"MEMORY.md", []byte(marked("- my own words")))
		return "- another summary", nil
	})
	if err == nil || !strings.Contains(err.Error(), "edited meanwhile") || string(mem.Bytes(projectDir+"MEMORY.md")) != marked("- my own words") {
		t.Errorf("%v: %s", err, mem.Bytes(projectDir+"MEMORY.md"))
	}
}

func TestOnlyWhatFitsIsSummarisedTheOldestDaysFirst(t *testing.T) {
	mem := shelf()
	var drafts []Draft
	if n, err := at(mem, 0).Consolidate(t.Context(), 12, says("- x", &drafts)); n != 1 || err != nil || drafts[0].Days[0].Day != "2026-11-18" {
		t.Errorf("%d %v", n, err)
	}
	mem.Put(projectDir+"daily/2026-11-17.md", []byte(strings.Repeat("- long\n", 100)))
	if n, err := at(mem, 1).Consolidate(t.Context(), 12, says("- x", &drafts)); n != 0 || err == nil || !strings.Contains(err.Error(), "too long for the window") || len(drafts) != 1 {
		t.Errorf("%d %v", n, err)
	}
}

func TestArchivedNotesAreNeverReplaced(t *testing.T) {
	mem := shelf()
	mem.Put(projectDir+"daily/archive/2026-11-18.md", []byte("older"))
	if n, err := at(mem, 0).Consolidate(t.Context(), 10_000, says("- x", nil)); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if string(mem.Bytes(projectDir+"daily/archive/2026-11-18.md")) != "older" || string(mem.Bytes(projectDir+"daily/archive/2026-11-18-2.md")) != "- 10:00 chose sqlite\n" {
		t.Errorf("%s", mem)
	}
}

func TestMarksThatDoNotBelongTogetherArePeoplesText(t *testing.T) {
	for _, text := range []string{sectionBegin + "\nx", sectionEnd + "\nx\n" + sectionBegin + "\n", marked("x")[:20], sectionEnd + "\n"} {
		mem := shelf()
		mem.Put(projectDir+"MEMORY.md", []byte(text))
		if _, err := at(mem, 0).Consolidate(t.Context(), 10_000, says("- y", nil)); err != nil {
			t.Fatal(err)
		}
		if got := string(mem.Bytes(projectDir + "MEMORY.md")); !strings.HasPrefix(got, text) || !strings.HasSuffix(got, marked("- y")) {
			t.Errorf("%q became %q", text, got)
		}
		if _, err := at(mem, 1).Consolidate(t.Context(), 10_000, says("- z", nil)); err != nil {
			t.Fatal(err)
		}
		if got := string(mem.Bytes(projectDir + "MEMORY.md")); !strings.HasPrefix(got, text) || !strings.HasSuffix(got, marked("- z")) || strings.Contains(got, "- y") {
			t.Errorf("then %q became %q", text, got)
		}
	}
}

func TestTwoHostsDoNotConsolidateOneProjectAtOnce(t *testing.T) {
	mem := shelf()
	asked := 0
	_, err := at(mem, 0).Consolidate(t.Context(), 10_000, func(ctx context.Context, _ Draft) (string, error) {
		asked++
		n, err := at(mem, 1).Consolidate(ctx, 10_000, says("- other", nil)) // on its clock it is tomorrow
		if n != 0 || err != nil {
			t.Errorf("the other: %d %v", n, err)
		}
		return "- x", nil
	})
	if err != nil || asked != 1 {
		t.Error(err, asked)
	}
}

// complete returns what is wrong with the notes of shelf, wherever a consolidation ended:
// each day must be in its file, or in the archive with the summary durable.
func complete(mem *disktest.Mem) error {
	text := string(mem.Bytes(projectDir + "MEMORY.md"))
	if !strings.HasPrefix(text, mine) {
		return fmt.Errorf("what a person wrote is lost: %q", text)
	}
	summarised := text == mine+marked("- a summary")
	if !summarised && text != mine {
		return fmt.Errorf("the file is torn: %q", text)
	}
	for day, want := range map[string]string{"2026-11-18": "- 10:00 chose sqlite\n", "2026-11-19": "- 11:00 sqlite is too slow\n"} {
		here, aside := string(mem.Bytes(projectDir+"daily/"+day+".md")), string(mem.Bytes(projectDir+"daily/archive/"+day+".md"))
		switch {
		case here != want && aside != want:
			return fmt.Errorf("%s is lost: %q, in the archive %q", day, here, aside)
		case here != want && !summarised:
			return fmt.Errorf("%s was set aside without a summary", day)
		}
	}
	return nil
}

func TestAConsolidationThatEndsAnywhereLosesNothingAndIsFinishedByTheNext(t *testing.T) {
	for _, how := range []disktest.Crash{"killed", disktest.Drop, disktest.Reorder, disktest.Half512} {
		for n := 1; ; n++ {
			mem := shelf()
			faulty := &disktest.Faulty{FS: mem, N: n, Sticky: true, Err: errors.New("dead"), Short: n%2 == 0}
			asked := 0
			summarise := func(context.Context, Draft) (string, error) { asked++; return "- a summary", nil }
			_, err := at(faulty, 0).Consolidate(t.Context(), 10_000, summarise)
			if how != "killed" {
				mem.Crash(how, uint64(n))
			}
			if bad := complete(mem); bad != nil {
				t.Errorf("%s at step %d (%v): %v", how, n, err, bad)
			}
			// The next host finishes it, today without another request, if the summary stands.
			had := strings.Contains(string(mem.Bytes(projectDir+"MEMORY.md")), "- a summary")
			before := asked
			if _, err := at(mem, 0).Consolidate(t.Context(), 10_000, summarise); err != nil {
				t.Errorf("%s at step %d, again: %v", how, n, err)
			}
			if bad := complete(mem); bad != nil {
				t.Errorf("%s at step %d, again: %v", how, n, bad)
			}
			mem.Crash(disktest.Drop, 0) // what was set aside has a summary that is durable
			if bad := complete(mem); bad != nil {
				t.Errorf("%s at step %d, again, and a power cut: %v", how, n, bad)
			}
			if had && asked != before {
				t.Errorf("%s at step %d: asked again although the summary stands", how, n)
			}
			var drafts []Draft
			if _, err := at(mem, 1).Consolidate(t.Context(), 10_000, says("- a summary", &drafts)); err != nil {
				t.Errorf("%s at step %d, the next day: %v", how, n, err)
			}
			if had && (len(drafts) != 1 || len(drafts[0].Days) != 1) {
				t.Errorf("%s at step %d: what the summary has was to be summarised again: %+v", how, n, drafts)
			}
			if bad := complete(mem); bad != nil {
				t.Errorf("%s at step %d, in the end: %v", how, n, bad)
			}
			if mem.Bytes(projectDir+"daily/2026-11-18.md") != nil || mem.Bytes(projectDir+"daily/2026-11-19.md") != nil {
				t.Errorf("%s at step %d: the days were never set aside", how, n)
			}
			if !faulty.Fired() {
				if n < 15 {
					t.Errorf("only %d steps were met", n)
				}
				break
			}
		}
	}
}

func TestFinishingAConsolidationMayEndAnywhereToo(t *testing.T) {
	for first := 1; ; first++ {
		fired := false
		for second := 1; ; second++ {
			mem := shelf()
			killed := &disktest.Faulty{FS: mem, N: first, Sticky: true, Err: errors.New("dead")}
			_, _ = at(killed, 0).Consolidate(t.Context(), 10_000, says("- a summary", nil))
			fired = killed.Fired()
			again := &disktest.Faulty{FS: mem, N: second, Sticky: true, Err: errors.New("dead")}
			_, _ = at(again, 0).Consolidate(t.Context(), 10_000, says("- a summary", nil))
			mem.Crash(disktest.Drop, 0)
			if bad := complete(mem); bad != nil {
				t.Errorf("killed at step %d, then at step %d, then a power cut: %v", first, second, bad)
			}
			if !again.Fired() {
				break
			}
		}
		if !fired {
			break
		}
	}
}
