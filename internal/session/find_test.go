package session

import (
	"fmt"
	"testing"

	"scorel/protocol"
)

func TestFindGivesTheEventsThatContainATextNewestFirst(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	var events []protocol.Event
	leaf := protocol.EventID("")
	for i := range 3000 { // several batches
		text := fmt.Sprintf("message %d", i)
		switch {
		case i%500 == 7:
			text += " the needle"
		case i%500 == 9:
			text += " the noodle"
		case i%500 == 11:
			text += " the n"
		}
		ev := w.user(leaf, text)
		leaf = ev.ID
		events = append(events, ev)
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	find := func(texts ...string) []string {
		var got []string
		for ev, err := range log.Index().Find(t.Context(), leaf, texts...) {
			if err != nil {
				t.Fatal(err)
			}
			m, _ := ev.Message()
			got = append(got, m.PlainText())
		}
		return got
	}
	if got := find("the needle", "the noodle"); len(got) != 12 || got[0] != "message 2509 the noodle" || got[11] != "message 7 the needle" {
		t.Errorf("found %q", got)
	}
	if got := find("needle", "message 12 "); len(got) != 6 {
		t.Errorf("found %q", got)
	}
	if got := find("nowhere"); got != nil {
		t.Errorf("found %q", got)
	}
	for range log.Index().Find(t.Context(), leaf, "needle") {
		break // ends the search
	}
}

func TestNeedlesAreFoundBehindBeginningsOfOthers(t *testing.T) {
	n := newNeedles([]string{`"a":"bc"`, `"a":"bd"`})
	for line, want := range map[string]bool{
		`{"a":"be","a":"bd"}`: true, `{"a":"bc"}`: true, `{"a":"b`: false, ``: false, `"a":"be" "a":"b`: false,
	} {
		if n.in([]byte(line)) != want {
			t.Errorf("%s: want %t", line, want)
		}
	}
	if newNeedles(nil).in([]byte("x")) {
		t.Error("nothing was found")
	}
}
