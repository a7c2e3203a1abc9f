package session

import (
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestFindGivesWhatADecodingWalkGives(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	defer func() { _ = log.Close() }()
	var parent protocol.EventID
	var events []protocol.Event
	for i := range 700 {
		text := "plain"
		if i%97 == 3 {
			text = strings.Repeat("x", 3000) + " needle"
		}
		e := w.user(parent, text)
		events, parent = append(events, e), e.ID
	}
	if err := log.Commit(ctx(), events); err != nil {
		t.Fatal(err)
	}
	var want, got []protocol.EventID
	for e, err := range log.Index().Back(ctx(), parent) {
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := e.Message(); strings.Contains(m.PlainText(), "needle") {
			want = append(want, e.ID)
		}
	}
	for e, err := range log.Index().Find(ctx(), parent, "absent", "needle") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.ID)
	}
	if !slices.Equal(got, want) || len(want) != 8 {
		t.Errorf("found %v, want %v", got, want)
	}
}
