package history

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func listing(lines ...string) protocol.Item {
	if len(lines) == 0 {
		return protocol.Item{Kind: protocol.ItemSkillListing}
	}
	return protocol.Item{Kind: protocol.ItemSkillListing, Content: "The skills, with a head that is long enough that what changes of three short lines is not longer than the whole would be, as in real life:\n\n- " + strings.Join(lines, "\n- ")}
}

func TestOfAListingThatTheModelHasOnlyChangesAreTold(t *testing.T) {
	s := newTalk()
	s.user("one")
	// told gives what is told for a listing, and appends it.
	told := func(want protocol.Item) string {
		t.Helper()
		b, err := New(Config{Log: s.log})
		if err != nil {
			t.Fatal(err)
		}
		known, err := b.Told(t.Context(), s.leaf)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, item := range Missing(known, []protocol.Item{want}) {
			out = append(out, string(item.Kind)+": "+item.Content)
			s.add(&protocol.HarnessItem{Item: item})
		}
		return strings.Join(out, "|")
	}
	same := func(want, got string) {
		t.Helper()
		if got != want {
			t.Errorf("told %q\nwant %q", got, want)
		}
	}
	same("", told(listing()))
	first := listing("a: one", "b [project]: two", "c")
	same("skill_listing: "+first.Content, told(first))
	same("", told(first))
	const changed = "skill_delta: These skills are new or have changed since they were listed:\n"
	same(changed+"- b [project]: three\n- d: four\nThese skills are no longer there: c.", told(listing("a: one", "b [project]: three", "d: four")))
	same("", told(listing("a: one", "b [project]: three", "d: four")))
	same(changed+"- d: four", told(listing("a: one", "b [project]: two", "c", "d: four"))) // all that has changed since the listing
	same("skill_delta: The skills are again as they were listed.", told(first))
	same("", told(first))
	same("skill_delta: These skills are no longer there: a, b, c.", told(listing()))
	same("", told(listing()))

	// When most is new the whole is told again, and what was said of the old one is over.
	long := strings.Repeat("x", 500)
	next := listing("a: "+long, "b: "+long)
	same("skill_listing: "+next.Content, told(next))
	same("", told(next))
	same("skill_delta: These skills are no longer there: b.", told(listing("a: "+long)))

	// Behind a compaction the model has neither.
	s.compact(s.say("two"), "", "S")
	same("skill_listing: "+next.Content, told(next))
	same("", told(next))
}
