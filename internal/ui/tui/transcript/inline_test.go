package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// words is what lines say without styles, marks, breaks and blanks.
func words(lines []string) string {
	s := plain(strings.Join(lines, ""))
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" ●•", r) {
			return -1
		}
		return r
	}, s)
}

func randomAnswer(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(14) {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "## Part %d\n\n", i)
		case 1:
			fmt.Fprintf(&b, "- item %d with `code`\n- second with **bold words** and more of them\n\n", i)
		case 2:
			fmt.Fprintf(&b, "```go\nfunc f%d() {\n\treturn %d\n}\n```\n\n", i, i)
		default:
			b.WriteString(strings.Repeat("some words of a paragraph that is long ", 1+r.IntN(6)) + "\n\n")
		}
	}
	return b.String()
}

// run plays a turn through a transcript in inline mode: the answer comes in pieces,
// lines are given and drawn in between. It gives what was given.
type run struct {
	t     *testing.T
	r     *rand.Rand
	tr    *Transcript
	th    *theme.Theme
	width func() int
	live  protocol.Live
	given []string
}

func (p *run) look() {
	w := p.width()
	p.given = append(p.given, p.tr.Commit(p.th, w)...)
	h := 1 + p.r.IntN(20)
	region := p.tr.Region(p.th, w, h)
	if len(region) > h {
		p.t.Fatalf("a region of %d lines, at most %d", len(region), h)
	}
	for _, l := range region {
		if cell.Width(l) > w {
			p.t.Fatalf("a line of %d cells at %d: %q", cell.Width(l), w, l)
		}
	}
}

// stream lets a block come in.
func (p *run) stream(id protocol.EventID, text string, upTo int) {
	p.live.Messages = []protocol.LiveMessage{{EventID: id, Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText}}}}
	b := &p.live.Messages[0].Blocks[0]
	for at := 0; at < upTo; {
		n := min(1+p.r.IntN(60), upTo-at)
		b.Text = append(b.Text, text[at:at+n]...)
		at += n
		p.tr.Live(&p.live)
		if p.r.IntN(2) == 0 {
			p.look()
		}
	}
}

func TestWhatIsGivenStandsExactlyOnceHoweverItCameIn(t *testing.T) {
	th := themed(t, theme.Options{Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor})
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 2))
		width := 30 + r.IntN(80)
		p := &run{t: t, r: r, tr: New(Config{}), th: th, width: func() int { return width }}
		if seed%3 == 0 {
			p.width = func() int { return 30 + r.IntN(80) }
		}
		l := &log{}
		add := func(e protocol.Event) {
			p.tr.Append(e)
			p.live.Messages = slices.DeleteFunc(p.live.Messages, func(m protocol.LiveMessage) bool { return m.EventID == e.ID })
			p.tr.Live(&p.live)
			p.look()
		}
		lost := 0
		for range 1 + r.IntN(3) {
			add(l.user("do it"))
			text := randomAnswer(r)
			id := eventID(len(l.events) + 1)
			if r.IntN(3) == 0 { // tried again: what came in is not kept
				before := len(p.given)
				p.stream("evt_lost000000000", text, r.IntN(len(text)))
				p.live.Messages = nil
				p.live.Retry = &protocol.Retry{Attempt: 1, MaxAttempts: 3, DelayMS: 1000, Error: "overloaded"}
				p.tr.Live(&p.live)
				p.look()
				if given := p.given[before:]; len(given) > 0 {
					lost++
					if !strings.Contains(words(given), words([]string{brokenText})) {
						t.Fatalf("seed %d: %q was given and lost, and no line says so", seed, given)
					}
				}
				p.live.Retry = nil
			}
			p.stream(id, text, r.IntN(len(text)+1))
			add(l.answer(protocol.Text(text)))
		}
		p.look()
		if lost > 0 {
			continue
		}
		want := filled(l).Commit(th, width)
		if seed%3 != 0 {
			if !slices.Equal(p.given, want) {
				t.Fatalf("seed %d, width %d: given\n%q\nwant\n%q", seed, width, p.given, want)
			}
		} else if words(p.given) != words(want) {
			t.Fatalf("seed %d: at changing widths\n%s\nwas given of\n%s", seed, words(p.given), words(want))
		}
		if more := p.tr.Commit(th, width); len(more) > 0 {
			t.Fatalf("seed %d: given again: %q", seed, more)
		}
	}
}

func TestACardIsGivenWhenItsResultIsThereAndHoldsBackWhatFollows(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	tr := New(Config{})
	tr.Append(l.answer(protocol.ToolUse("a", "Bash", []byte(`{"command":"sleep"}`)), protocol.ToolUse("b", "Read", []byte(`{"path":"x"}`))))
	tr.Append(l.result("b", "Read", "text", nil, false))
	live := protocol.Live{Tools: []protocol.LiveTool{{EventID: "evt_x", ToolCallID: "a", ToolName: "Bash", OutputTail: "half way\n"}}}
	tr.Live(&live)
	if got := tr.Commit(th, 80); len(got) > 0 {
		t.Fatalf("given before the first call has ended: %q", got)
	}
	if region := strings.Join(tr.Region(th, 80, 20), "\n"); !strings.Contains(region, "running") || !strings.Contains(region, "half way") || !strings.Contains(region, "Read") {
		t.Errorf("the region does not show what runs:\n%s", region)
	}
	tr.Append(l.result("a", "Bash", "done", nil, false))
	live.Tools = nil
	tr.Live(&live)
	got := plain(strings.Join(tr.Commit(th, 80), "\n"))
	if i, k := strings.Index(got, "Bash"), strings.Index(got, "Read"); i < 0 || k < i || strings.Count(got, "Read") != 1 {
		t.Errorf("given: %s", got)
	}
	if region := tr.Region(th, 80, 20); len(region) > 0 {
		t.Errorf("left in the region: %q", region)
	}
}

func TestAnAnswerThatWaitsBehindACallIsSeenFromItsBeginning(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	tr := New(Config{})
	tr.Append(l.answer(protocol.ToolUse("a", "Bash", []byte(`{"command":"sleep"}`))))
	live := protocol.Live{Messages: []protocol.LiveMessage{{EventID: "evt_1", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: protocol.Growing("first\n\nsecond\n\nthi")}}}}}
	tr.Live(&live)
	for range 2 {
		if got := tr.Commit(th, 80); len(got) > 0 {
			t.Fatalf("given: %q", got)
		}
		if got := plain(strings.Join(tr.Region(th, 80, 20), "\n")); !strings.Contains(got, "first\n\n  second\n\n  thi") {
			t.Errorf("the region: %s", got)
		}
	}
}

func TestACommandOfAPersonStaysBelowUntilItHasEnded(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	tr := New(Config{})
	id := protocol.EventID("evt_shell00000000")
	live := protocol.Live{Tools: []protocol.LiveTool{{EventID: id, ToolCallID: string(id), ToolName: "Bash", Args: []byte(`{"command":"npm run dev"}`), Shell: &protocol.Shell{Command: "npm run dev"}}}}
	tr.Live(&live)
	tr.Append(l.user("go on"))
	tr.Live(&live)
	if got := strings.Join(tr.Commit(th, 80), "\n"); !strings.Contains(got, "go on") {
		t.Fatalf("a command that runs holds back what is said: %q", got)
	}
	if got := strings.Join(tr.Region(th, 80, 9), "\n"); !strings.Contains(got, "npm run dev") {
		t.Errorf("the command is not seen: %q", got)
	}
	e := protocol.NewEvent(&protocol.CustomMessage{Kind: protocol.ShellKind, Data: []byte(`{"command":"npm run dev","inContext":true,"exitCode":0}`), Message: protocol.UserText("listening")})
	e.ID = id
	tr.Append(e)
	live.Tools = nil
	tr.Live(&live)
	if got := strings.Join(tr.Commit(th, 80), "\n"); strings.Count(got, "npm run dev") != 1 || !strings.Contains(got, "listening") {
		t.Errorf("given at its end: %q", got)
	}
}

func TestAnAnswerStoredOtherwiseThanItCameInSaysSo(t *testing.T) {
	th := plainTheme(t)
	tr := New(Config{})
	live := protocol.Live{Messages: []protocol.LiveMessage{{EventID: "evt_1", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: protocol.Growing("first part\n\nsecond")}}}}}
	tr.Live(&live)
	given := tr.Commit(th, 80)
	e := protocol.NewEvent(&protocol.MessageBody{Message: assistant(protocol.Text("another text"))})
	e.ID = "evt_1"
	tr.Append(e)
	given = append(given, tr.Commit(th, 80)...)
	got := plain(strings.Join(given, "\n"))
	if !strings.Contains(got, "first part") || !strings.Contains(got, brokenText) || !strings.Contains(got, "another text") {
		t.Errorf("given: %s", got)
	}
}

func TestAPathThatIsCutBelowWhatWasGivenSaysSo(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	tr := New(Config{})
	first := l.user("go on")
	tr.Append(first)
	live := protocol.Live{Messages: []protocol.LiveMessage{{EventID: "evt_1", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: protocol.Growing("part one\n\npart two")}}}}}
	tr.Live(&live)
	if got := strings.Join(tr.Commit(th, 80), "\n"); !strings.Contains(got, "part one") {
		t.Fatalf("given: %q", got)
	}
	tr.Cut(first.ID)
	if got := plain(strings.Join(tr.Commit(th, 80), "\n")); !strings.Contains(got, brokenText) || strings.Contains(got, "part") {
		t.Errorf("given after the cut: %q", got)
	}
	if tr.Oldest() != first.ID {
		t.Errorf("the oldest is %s", tr.Oldest())
	}
}
