package history

import (
	"testing"

	"scorel/protocol"
)

func want(kind protocol.ItemKind, text string) protocol.Item {
	return protocol.Item{Kind: kind, Content: text}
}

func TestToldCountsOnlyOnThePathBehindTheNewestCompact(t *testing.T) {
	s := newTalk()
	first := s.user("one")
	s.item(protocol.ItemSkillListing, "skills 1")
	s.item(protocol.ItemMemory, "memory 1")
	s.item(protocol.ItemMemory, "memory 2")
	through := s.say("two")
	wants := []protocol.Item{want(protocol.ItemMemory, "memory 2"), want(protocol.ItemSkillListing, "skills 1"), want(protocol.ItemDateChange, "today")}
	check := func(name string, missing ...protocol.ItemKind) {
		t.Helper()
		b, err := New(Config{Log: s.log})
		if err != nil {
			t.Fatal(err)
		}
		told, err := b.Told(t.Context(), s.leaf)
		if err != nil {
			t.Fatal(err)
		}
		got := []protocol.ItemKind{}
		for _, item := range Missing(told, wants) {
			got = append(got, item.Kind)
		}
		if asJSON(t, got) != asJSON(t, append([]protocol.ItemKind{}, missing...)) {
			t.Errorf("%s: missing %v, want %v", name, got, missing)
		}
	}
	check("told once", protocol.ItemDateChange)
	leaf := s.leaf
	s.leaf = first
	check("after a rewind", protocol.ItemMemory, protocol.ItemSkillListing, protocol.ItemDateChange)
	s.leaf = leaf
	s.item(protocol.ItemDateChange, "today")
	check("all told")
	wants[2].Content = "tomorrow"
	check("changed", protocol.ItemDateChange)
	wants[2].Content = "today"
	s.compact(through, "", "S") // the date is in the tail
	check("after a compaction", protocol.ItemMemory, protocol.ItemSkillListing, protocol.ItemDateChange)
	s.item(protocol.ItemMemory, "memory 2")
	check("told again", protocol.ItemSkillListing, protocol.ItemDateChange)
}

func TestToldIsKeptWhileATurnRuns(t *testing.T) {
	s := newTalk()
	s.user("one")
	b, err := New(Config{Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	before, err := b.Told(t.Context(), s.leaf)
	if err != nil {
		t.Fatal(err)
	}
	s.item(protocol.ItemMemory, "m")
	b.Extend(s.last)
	reads := s.log.reads
	told, err := b.Told(t.Context(), s.leaf)
	if err != nil {
		t.Fatal(err)
	}
	if item, ok := told.Get(protocol.ItemMemory); !ok || item.Content != "m" || len(before) != 0 {
		t.Errorf("told %v, before %v", told, before)
	}
	if _, err := b.Build(t.Context(), s.leaf, window); err != nil {
		t.Fatal(err)
	}
	if s.log.reads != reads {
		t.Errorf("%d events were read again", s.log.reads-reads)
	}
}
