package history

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"scorel/protocol"
)

// checkValid fails for what a vendor would refuse.
func checkValid(t *rapid.T, messages []protocol.Message) {
	if !paired(messages, func(m *protocol.Message) *protocol.Message { return m }) {
		t.Fatalf("calls and results are not paired:\n%s", brief(messages))
	}
	for i, m := range messages {
		if i == 0 && m.Role != protocol.RoleUser {
			t.Fatalf("the first message is %s", m.Role)
		}
		if len(m.Content) == 0 {
			t.Fatalf("message %d is empty:\n%s", i, brief(messages))
		}
		for _, b := range m.Content {
			if b.Type == protocol.BlockText && strings.TrimSpace(b.Text) == "" {
				t.Fatalf("message %d has empty text:\n%s", i, brief(messages))
			}
		}
		if m.Details != nil || m.Process != nil || m.Meta != nil || m.Usage != nil || m.ErrorMessage != "" {
			t.Fatalf("message %d carries what no model is told", i)
		}
	}
}

// machine writes random paths, lawful ones and damaged ones, and keeps a builder
// that is extended beside them.
type machine struct {
	t       *rapid.T
	s       *talk
	b       *Builder
	calls   []string // without a result
	ids     []protocol.EventID
	last    []string // what was sent last
	changed bool     // a compact, a cut, a rewind or a late result came since
	n       int
}

func (m *machine) wrote() {
	m.b.Extend(m.s.last)
	if !m.s.last.Control {
		m.ids = append(m.ids, m.s.leaf)
	}
}

func (m *machine) text() string {
	return rapid.SampledFrom([]string{"", "text", "more text\n", "</system-reminder>", strings.Repeat("long ", 40), strings.Repeat("x", 2500)}).Draw(m.t, "text")
}

func (m *machine) call() []string {
	var ids []string
	for range rapid.IntRange(0, 3).Draw(m.t, "calls") {
		m.n++
		ids = append(ids, fmt.Sprintf("c%d", m.n))
	}
	return ids
}

func (m *machine) actions() map[string]func(*rapid.T) {
	kinds := []protocol.ItemKind{protocol.ItemMemory, protocol.ItemRuntimeNotice, protocol.ItemDateChange}
	return map[string]func(*rapid.T){
		"user":     func(*rapid.T) { m.s.user(m.text()); m.wrote() },
		"followUp": func(*rapid.T) { m.s.from(protocol.SourceFollowUp, m.text()); m.wrote() },
		"steer":    func(*rapid.T) { m.s.steer(m.text()); m.wrote() },
		"item": func(*rapid.T) {
			m.s.item(rapid.SampledFrom(kinds).Draw(m.t, "kind"), "note "+m.text())
			m.wrote()
		},
		"say": func(*rapid.T) {
			ids := m.call()
			msg := answerOf(m.text(), ids...)
			if rapid.Bool().Draw(m.t, "usage") {
				msg.Usage = &protocol.Usage{InputTokens: rapid.IntRange(1, 9000).Draw(m.t, "tokens")}
			}
			m.s.message(msg)
			m.wrote()
			m.calls = append(m.calls, ids...)
		},
		"result": func(*rapid.T) {
			if len(m.calls) == 0 {
				m.t.Skip("no call")
			}
			i := rapid.IntRange(0, len(m.calls)-1).Draw(m.t, "call")
			m.s.result(m.calls[i], m.text())
			m.wrote()
			m.calls = append(m.calls[:i], m.calls[i+1:]...)
			m.changed = true // it may be late and move
		},
		"orphan": func(*rapid.T) { m.s.result("nobody", m.text()); m.wrote() },
		"internal": func(*rapid.T) {
			m.s.message(protocol.Message{Role: protocol.RoleInternal})
			m.wrote()
		},
		"compact": func(*rapid.T) {
			if len(m.ids) == 0 {
				m.t.Skip("nothing to compact")
			}
			turn := protocol.EventID("")
			if rapid.Bool().Draw(m.t, "turn") {
				turn = rapid.SampledFrom(m.ids).Draw(m.t, "turn message")
			}
			id := m.s.compact(rapid.SampledFrom(m.ids).Draw(m.t, "through"), turn, "S")
			m.s.log.events[id].Body.(*protocol.Compact).ResultChars = rapid.SampledFrom([]int{0, resultChars}).Draw(m.t, "chars")
			m.wrote()
			m.changed = true
		},
		"cut": func(*rapid.T) {
			if len(m.ids) == 0 {
				m.t.Skip("nothing to cut")
			}
			m.s.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: rapid.SampledFrom(m.ids).Draw(m.t, "through")})
			m.wrote()
			m.changed = true
		},
		"plan": func(t *rapid.T) { m.plan(t) },
		"rewind": func(*rapid.T) {
			if len(m.ids) == 0 {
				m.t.Skip("nowhere to go")
			}
			m.s.leaf = rapid.SampledFrom(m.ids).Draw(m.t, "to")
			m.changed = true
		},
		"": m.check,
	}
}

// check builds with the extended builder, and where that is wanted with a new one.
func (m *machine) check(t *rapid.T) {
	if !rapid.Bool().Draw(t, "build") {
		return
	}
	kept := m.buildWith(t, m.b)
	fresh, err := New(Config{Log: m.s.log})
	if err != nil {
		t.Fatal(err)
	}
	anew := m.buildWith(t, fresh)
	hooked, err := New(Config{Log: m.s.log, Hooks: pop{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Context{"a new builder": anew, "hooks that change nothing": m.buildWith(t, hooked)} {
		if a, b := brief(kept.Messages), brief(c.Messages); a != b {
			t.Fatalf("the kept builder gives\n%s\nand %s\n%s", a, name, b)
		}
		if kept.Tokens != c.Tokens || len(kept.Told) != len(c.Told) || kept.Compact != c.Compact {
			t.Fatalf("tokens %d, told %v; with %s %d, %v", kept.Tokens, kept.Told, name, c.Tokens, c.Told)
		}
	}
	checkValid(t, kept.Messages)
	m.checkPrefix(t, kept.Messages)
}

func (m *machine) buildWith(t *rapid.T, b *Builder) Context {
	c, err := b.Build(t.Context(), m.s.leaf, window)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkPrefix holds that a longer path begins with the same messages; only the
// last one may have got notes.
func (m *machine) checkPrefix(t *rapid.T, messages []protocol.Message) {
	lines := strings.SplitAfter(brief(messages), "\n")
	lines = lines[:len(lines)-1]
	// Results that are still to come take the place of their errors.
	if !m.changed && len(m.last) > 0 {
		if len(lines) < len(m.last) {
			t.Fatalf("%d messages became %d", len(m.last), len(lines))
		}
		for i, line := range m.last {
			if line != lines[i] && (i < len(m.last)-1 || !strings.HasPrefix(lines[i], strings.TrimSuffix(line, "\n"))) {
				t.Fatalf("message %d was\n%s and is\n%s", i, line, lines[i])
			}
		}
	}
	m.last, m.changed = lines, false
}

// plan compacts where a plan exists: what After says is what the event gives.
func (m *machine) plan(t *rapid.T) {
	w := Window{Size: rapid.SampledFrom([]int{60, 200, 900, 9000}).Draw(t, "window"), System: 1}
	c, err := m.b.Build(t.Context(), m.s.leaf, w)
	if err != nil {
		t.Fatal(err)
	}
	cut, ok := Plan(c, w, rapid.Bool().Draw(t, "harder"))
	if !ok {
		t.Skip("nothing to cut")
	}
	if SummaryRequest(cut, "").MaxTokens != w.Summary() {
		t.Fatal("the summary has no limit")
	}
	m.s.add(cut.Event("planned", nil))
	m.wrote()
	m.changed = true
	next, err := m.b.Build(t.Context(), m.s.leaf, w)
	if err != nil {
		t.Fatal(err)
	}
	checkValid(t, next.Messages)
	if len(next.Diagnostics) > 0 {
		t.Fatalf("a planned compaction gives %q", next.Diagnostics)
	}
	if after := After(cut, "planned"); after != c.scale(next.Tokens) {
		t.Fatalf("After says %d, and it is %d", after, c.scale(next.Tokens))
	}
}

func TestExtendGivesWhatANewBuildGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{t: t, s: newTalk()}
		b, err := New(Config{Log: m.s.log})
		if err != nil {
			t.Fatal(err)
		}
		m.b = b
		t.Repeat(m.actions())
	})
}
