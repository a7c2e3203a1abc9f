package display_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"scorel/protocol"
	"scorel/protocol/display"
)

func piece(id protocol.EventID, text string, stop protocol.StopReason) protocol.Event {
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, StopReason: stop, Content: []protocol.Block{protocol.Text(text)}}})
	e.ID = id
	return e
}

func given(events []protocol.Event, err error) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(protocol.Event{}, err)
		}
	}
}

func TestAnAnswerInPiecesIsOneMessage(t *testing.T) {
	cut, end := protocol.StopMaxTokens, protocol.StopEndTurn
	said := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText("go on")})
	note := protocol.NewEvent(&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Content: "Continue.", Visibility: protocol.VisibilityHidden}})
	for name, c := range map[string]struct {
		events []protocol.Event
		alone  protocol.EventID
		want   string
	}{
		"three":                 {[]protocol.Event{piece("a", "one wo", cut), piece("b", "rd ", cut), note, piece("c", "and more", end), said}, "", "a:one word and more|harness_item|user:go on"},
		"cut at the end":        {[]protocol.Event{piece("a", "one ", cut), piece("b", "two", cut)}, "", "a:one two"},
		"a message of a user":   {[]protocol.Event{piece("a", "one", cut), said, piece("b", "other", end)}, "", "a:one|user:go on|b:other"},
		"one that is named":     {[]protocol.Event{piece("a", "one", cut), piece("b", "two", cut), piece("c", "three", end)}, "b", "a:one|b:two|c:three"},
		"two answers":           {[]protocol.Event{piece("a", "one", end), piece("b", "two", end)}, "", "a:one|b:two"},
		"what comes in between": {[]protocol.Event{piece("a", "one", cut), note}, "", "a:one|harness_item"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for e, err := range display.Joined(given(c.events, nil), func(e protocol.Event) bool { return c.alone != "" && e.ID == c.alone }) {
				if err != nil {
					t.Fatal(err)
				}
				m, ok := e.Message()
				switch {
				case !ok:
					got = append(got, string(e.Type))
				case m.Role == protocol.RoleUser:
					got = append(got, "user:"+m.PlainText())
				default:
					got = append(got, string(e.ID)+":"+m.PlainText())
				}
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
	broken, n := errors.New("broken"), 0
	for _, err := range display.Joined(given([]protocol.Event{piece("a", "one", cut)}, broken), nil) {
		if n++; n == 2 && !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d events and errors", n)
	}
	for range display.Joined(given([]protocol.Event{piece("a", "one", cut), said, said}, broken), nil) {
		break // nothing is given any more
	}
}
