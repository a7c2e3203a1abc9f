package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"scorel/internal/ui/tui/golden"
)

func TestWhatTheCommandIsToldHasAllFieldsByTheirNames(t *testing.T) {
	in := Input{SessionID: "ses_1", SessionName: "dates", Model: InputModel{"anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"},
		Workspace: InputFolders{CurrentDir: "/src/shop/web", ProjectDir: "/src/shop", AddedDirs: []string{"/src/lib"}}, Version: "1.0",
		OutputStyle: InputStyle{"default"}, Cost: InputCost{TotalUSD: 1.5, DurationMS: 60_000},
		Context: InputContext{TotalInput: 300_000, TotalOutput: 9_000},
		Vim:     &InputVim{"NORMAL"}, Remote: &InputRemote{"ses_1"}}
	in.SetContext(&InputUsage{Input: 1000, Output: 500, CacheCreation: 500, CacheRead: 98_000}, 200_000)
	var early Input
	early.SetContext(nil, 200_000)
	got := ""
	for _, v := range []Input{in, early} {
		raw, err := v.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		got += b.String() + "\n"
	}
	golden.File(t, "input", got)
}

func TestAVeryLongContextIsMarkedAndPercentagesStayInTheirRange(t *testing.T) {
	var in Input
	in.SetContext(&InputUsage{CacheRead: 250_000}, 200_000)
	if !in.Exceeds200k || *in.Context.Used != 100 || *in.Context.Remaining != 0 {
		t.Errorf("%+v", in.Context)
	}
	in.SetContext(&InputUsage{Input: 5}, 0)
	if in.Exceeds200k || in.Context.Used != nil || in.Context.Remaining != nil || in.Context.Size != nil {
		t.Errorf("without a window: %+v", in.Context)
	}
	if raw, err := in.JSON(); err != nil || !bytes.Contains(raw, []byte(`"context_window_size":null`)) {
		t.Errorf("without a window: %s, %v", raw, err)
	}
}

func TestOfWhatACommandPrintsOnlyTextAndColoursStay(t *testing.T) {
	for printed, want := range map[string]string{
		"":                           "",
		" \n\t\n":                    "",
		"  one \n\n two\t\n":         "one two",
		"\x1b[1;31mred\x1b[0m x":     "\x1b[1;31mred\x1b[m x",
		"\x1b[38;2;1;2;3mrgb":        "\x1b[38;2;1;2;3mrgb\x1b[m",
		"\x1b[38;5;208morange\x1b[m": "\x1b[38;5;208morange\x1b[m",
		"\x1b[38:2::1:2:3ma\x1b[48:2:4:5:6mb\x1b[58:5:7mc": "\x1b[38;2;1;2;3ma\x1b[48;2;4;5;6mb\x1b[58;5;7mc\x1b[m",
		"\x1b[4:3;1mcurly\x1b[4:0mnot":                     "\x1b[4;1mcurly\x1b[24mnot\x1b[m",
		"\x1b[:ma\x1b[8:1mb\x1b[38:2:1mc\x1b[4:mx":         "abcx",
		"\x1b[8mhidden\x1b[m":                              "hidden\x1b[m",
		"\x1b[08;1mhidden":                                 "\x1b[1mhidden\x1b[m",
		"\x1b[38;8;5mx":                                    "x",
		"\x1b[2J\x1b[Hhome":                                "home",
		"\x1b]0;title\x07text":                             "text",
		"\x1b]8;;http://x\x07a\x1b]8;;\x07":                "a",
		"\x1b[?25lx\x1b[6n":                                "x",
		"a\rb":                                             "a b",
		"\x1b[31m\x1b[m":                                   "",
		"a\u202eb":                                         "a[U+202E]b",
		"\x1b[" + strings.Repeat("1;", 60) + "1mx":         "x",
		"\x1b[31":                                          "31",
	} {
		if got := Output(printed); got != want {
			t.Errorf("%q gives %q, not %q", printed, got, want)
		}
	}
}

func FuzzOutputIsOneSafeLine(f *testing.F) {
	f.Add("\x1b[1;31mred\x1b[0m\n\x1b]0;x\x07 \x9b2J")
	f.Add("\x1b[38;5\x1b[m\x1b[;8m")
	f.Add("\x1b[:m\x1b\x1b\x80")
	f.Fuzz(func(t *testing.T, printed string) {
		got := Output(printed)
		golden.Lines(t, []string{got}, 1<<20)
		if strings.Contains(got, "\x1b[8m") {
			t.Errorf("%q hides text", got)
		}
		line := Line(golden.Dark(), 60, Facts{Replaced: got})
		golden.Lines(t, []string{line}, 60)
	})
}

// runner drives a scheduler as the app does, in time that is made up.
type runner struct {
	s    Scheduler
	now  time.Time
	log  []string
	run  int // under way
	most int // runs at once
}

func (r *runner) do(step Step) {
	if step.Cancel != 0 {
		r.log = append(r.log, fmt.Sprintf("%v cancel %d", r.now.Sub(start), step.Cancel))
		if step.Cancel == r.run {
			r.run = 0
		}
	}
	if step.Start != 0 {
		if r.run != 0 {
			r.most = 2
		}
		r.run = step.Start
		r.log = append(r.log, fmt.Sprintf("%v start %d %s", r.now.Sub(start), step.Start, step.Run))
	}
}

// to lets time pass.
func (r *runner) to(d time.Duration) {
	for {
		next, ok := r.s.Next()
		if !ok || next.After(after(d)) {
			r.now = after(d)
			return
		}
		if next.After(r.now) {
			r.now = next
		}
		r.do(r.s.Due(r.now))
	}
}

func (r *runner) check(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(r.log, "; "); got != strings.Join(want, "; ") {
		t.Errorf("%s", got)
	}
	r.log = nil
}

func TestChangesInShortOrderAreOneRun(t *testing.T) {
	r := &runner{now: start}
	r.do(r.s.Set("line", 0, r.now))
	r.to(0)
	r.check(t, "0s start 1 line")
	r.s.Ended(1, true, "x")
	for _, ms := range []int{1000, 1100, 1350} {
		r.to(time.Duration(ms) * time.Millisecond)
		r.s.Changed(r.now)
	}
	r.to(10 * time.Second)
	r.check(t, "1.65s start 2 line", "6.65s cancel 2")
}

func TestARunThatTakesTooLongIsEndedAndTheTextStays(t *testing.T) {
	r := &runner{now: start}
	r.do(r.s.Set("line", 0, r.now))
	r.to(time.Second)
	r.s.Ended(1, true, "text")
	r.s.Changed(r.now)
	r.to(20 * time.Second)
	r.check(t, "0s start 1 line", "1.3s start 2 line", "6.3s cancel 2")
	if changed, _ := r.s.Ended(2, true, "late"); changed || r.s.Text() != "text" {
		t.Errorf("text %q", r.s.Text())
	}
}

func TestANewRunEndsTheOneBefore(t *testing.T) {
	r := &runner{now: start}
	r.do(r.s.Set("slow", time.Second, r.now))
	r.to(4 * time.Second)
	r.check(t, "0s start 1 slow", "1.3s cancel 1", "1.3s start 2 slow", "2.3s cancel 2", "2.3s start 3 slow", "3.3s cancel 3", "3.3s start 4 slow")
}

func TestIntervalsAndCommandsChangeAtOnce(t *testing.T) {
	r := &runner{now: start}
	r.do(r.s.Set("one", 10*time.Second, r.now))
	r.to(2 * time.Second)
	r.s.Ended(1, true, "text")
	r.do(r.s.Set("one", 3*time.Second, r.now)) // another interval only
	r.to(6 * time.Second)
	r.check(t, "0s start 1 one", "5.3s start 2 one")
	r.do(r.s.Set("two", 0, r.now)) // another command: at once, and no timer
	r.to(60 * time.Second)
	r.check(t, "6s cancel 2", "6s start 3 two", "11s cancel 3")
	r.do(r.s.Set("", 0, r.now))
	r.s.Changed(r.now)
	r.to(100 * time.Second)
	r.check(t)
	if _, ok := r.s.Next(); ok || r.s.Text() != "" {
		t.Errorf("without a command: text %q", r.s.Text())
	}
}

func TestEachEndOfARun(t *testing.T) {
	var s Scheduler
	run := func() int {
		s.Changed(start)
		return s.Due(after(Debounce)).Start
	}
	s.Set("line", 0, start)
	first := s.Due(start).Start
	if changed, warn := s.Ended(first, false, "junk"); changed || !warn || s.Text() != "" {
		t.Errorf("the first failure: %v %v %q", changed, warn, s.Text())
	}
	if changed, warn := s.Ended(run(), false, ""); changed || warn {
		t.Errorf("a further failure: %v %v", changed, warn)
	}
	if changed, _ := s.Ended(run(), true, "text\n"); !changed || s.Text() != "text" {
		t.Errorf("text: %q", s.Text())
	}
	if changed, _ := s.Ended(run(), true, "text"); changed {
		t.Error("the same text is a change")
	}
	if changed, _ := s.Ended(run(), false, "other"); changed || s.Text() != "text" {
		t.Errorf("a failure changes the text to %q", s.Text())
	}
	if changed, _ := s.Ended(run(), true, " \n"); !changed || s.Text() != "" {
		t.Errorf("nothing printed: %q", s.Text())
	}
	s.Set("loud", 0, start)
	s.Due(start)
	if step := s.Due(after(Timeout)); !step.Warn || step.Cancel == 0 {
		t.Errorf("a new command that hangs: %+v", step)
	}
}

func TestAtMostOneRunIsUnderWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &runner{now: start}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				r.do(r.s.Set(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "command"), time.Duration(rapid.IntRange(0, 3).Draw(t, "every"))*time.Second, r.now))
			case 1:
				r.s.Changed(r.now)
			case 2:
				r.to(r.now.Sub(start) + time.Duration(rapid.IntRange(1, 7000).Draw(t, "ms"))*time.Millisecond)
			case 3:
				r.s.Ended(r.run, true, "x")
				r.run = 0
			}
			if r.most > 1 {
				t.Fatalf("two at once: %v", r.log)
			}
			if next, ok := r.s.Next(); ok && next.Before(r.now.Add(-Debounce)) {
				t.Fatalf("it is due at %v and it is %v", next, r.now)
			}
		}
	})
}

const page = "../../../../docs/status-line.md"

func TestTheScriptOfTheDocumentationPrintsWhatItSays(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```sh\n")
	script, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("there is no script")
	}
	in := Input{Model: InputModel{"a/b", "claude"}, Cost: InputCost{TotalUSD: 1.25}}
	in.SetContext(&InputUsage{Input: 50_000}, 200_000)
	raw, err := in.JSON()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Stdin = bytes.NewReader(raw)
	out, err := cmd.Output()
	if got := Output(string(out)); err != nil || got != "\x1b[36mclaude\x1b[m  25%  $1.25" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEveryFieldIsDocumented(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("testdata/input.golden")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(golden)) {
		if name, _, ok := strings.Cut(strings.TrimSpace(l), `":`); ok && !strings.Contains(string(text), strings.TrimPrefix(name, `"`)) {
			t.Errorf("%s is not in docs/status-line.md", name)
		}
	}
}
