package protocol

import (
	"slices"
	"testing"
)

func TestTheContextIsThatOfTheNewestAnswerLessWhatWasCompacted(t *testing.T) {
	answer := func(tokens int) Event {
		return NewEvent(&MessageBody{Message: Message{Role: RoleAssistant, Usage: &Usage{InputTokens: tokens}}})
	}
	user := NewEvent(&MessageBody{Message: UserText("hi")})
	compact := NewEvent(&Compact{TokensBefore: 5000, TokensAfter: 1000})
	for _, c := range []struct {
		name string
		back []Event
		want int
	}{
		{"nothing", nil, 0},
		{"no answer", []Event{user}, 0},
		{"answers", []Event{user, answer(900), answer(5)}, 900},
		{"an answer without counts", []Event{answer(0), answer(700)}, 700},
		{"compacted since", []Event{user, compact, answer(9000)}, 5000},
		{"compacted twice since", []Event{compact, compact, answer(9500)}, 1500},
		{"never below what compaction left", []Event{compact, answer(100)}, 1000},
		{"an answer since", []Event{answer(6000), compact, answer(9000)}, 6000},
		{"a compaction alone", []Event{compact}, 1000},
	} {
		if got := ContextTokens(slices.Values(c.back)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
