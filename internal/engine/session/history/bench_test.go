package history

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
)

// longTalk is a path of n events: user 200 B, a call, a 1 KB result, a 500 B
// answer, repeated, with a note now and then.
func longTalk(n int) *talk {
	s := newTalk()
	for i := 0; int(s.seq)/2 < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		s.user(strings.Repeat("u", 200))
		if i%10 == 0 {
			s.item(protocol.ItemDateChange, "It is day "+id)
		}
		s.say("", id)
		s.result(id, strings.Repeat("r", 1000))
		s.say(strings.Repeat("a", 500))
	}
	return s
}

func BenchmarkBuild10000(b *testing.B) {
	s := longTalk(10_000)
	h, err := New(Config{Log: s.log})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Drop()
		if _, err := h.Build(b.Context(), s.leaf, window); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExtend10000 appends an answer with a call and its result to the path
// and builds, as each step of a turn does.
func BenchmarkExtend10000(b *testing.B) {
	s := longTalk(10_000)
	h, err := New(Config{Log: s.log})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := h.Build(b.Context(), s.leaf, window); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.say("", "x")
		h.Extend(s.last)
		s.result("x", "out")
		h.Extend(s.last)
		if _, err := h.Build(b.Context(), s.leaf, window); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExtendOpenEnd builds again after a note came to what was sent last.
func BenchmarkExtendOpenEnd(b *testing.B) {
	s := longTalk(10_000)
	h, err := New(Config{Log: s.log})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range []string{"", "x"} {
			if text == "" {
				s.item(protocol.ItemRuntimeNotice, "note")
			} else {
				s.say(text)
			}
			h.Extend(s.last)
			if _, err := h.Build(b.Context(), s.leaf, window); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPlan10000(b *testing.B) {
	s := longTalk(10_000)
	c := s.build(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Plan(c, window, false); !ok {
			b.Fatal("nothing to cut")
		}
	}
}

// BenchmarkEscapeMarkup looks for reminders in a page of 1 MB full of tags.
func BenchmarkEscapeMarkup(b *testing.B) {
	page := strings.Repeat("<li>< /b></li> ", 1<<16)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if EscapeReminder(page) != page {
			b.Fatal("the page was changed")
		}
	}
}

// unchanged are hooks that look at each list and give it back, as it is or as new
// messages.
type unchanged struct{ anew bool }

func (u unchanged) Context(_ context.Context, list []Element) ([]Element, error) {
	if u.anew {
		for i, e := range list {
			m := *e.Message
			list[i] = e.With(m)
		}
	}
	return list, nil
}

func (u unchanged) TransformContext(_ context.Context, list []Element) ([]Element, error) {
	return list, nil
}

func (u unchanged) ConvertToLLM(_ context.Context, messages []protocol.Message) ([]protocol.Message, error) {
	return messages, nil
}

// BenchmarkHooks10000 builds a kept path whose list goes through hooks.
func BenchmarkHooks10000(b *testing.B) {
	for name, hooks := range map[string]Hooks{"untouched": unchanged{}, "anew": unchanged{anew: true}} {
		b.Run(name, func(b *testing.B) {
			s := longTalk(10_000)
			h, err := New(Config{Log: s.log, Hooks: hooks})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Build(b.Context(), s.leaf, window); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
