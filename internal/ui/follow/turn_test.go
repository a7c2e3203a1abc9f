package follow

import (
	"errors"
	"strings"
	"testing"

	"scorel/client"
	"scorel/protocol"
)

// said makes a message of the user: one that began a turn, or with an item one that
// waited in a queue.
func said(seq int, item protocol.ItemID) protocol.Event {
	m := protocol.UserText("text")
	if item != "" {
		m.Meta = &protocol.MessageMeta{Source: protocol.SourceFollowUp, QueueItemID: item}
	}
	return numbered(seq, &protocol.MessageBody{Message: m})
}

func begin(seq int, turn protocol.TurnID) protocol.Event {
	e := numbered(seq, &protocol.RuntimeStart{})
	e.TurnID = turn
	return e
}

func end(seq int, turn protocol.TurnID) protocol.Event {
	e := numbered(seq, &protocol.RuntimeEnd{Terminal: protocol.TerminalCompleted})
	e.TurnID = turn
	return e
}

func fresh(l protocol.Live) client.Update { return client.Update{Fresh: true, Live: &l} }

func TestTurnIsThatOfItsMessage(t *testing.T) {
	sent := &protocol.Sent{EventID: "evt_0000000000000003", TurnID: "trn_mine"}
	queued := &protocol.Sent{ItemID: "itm_mine"}
	for name, c := range map[string]struct {
		turn    *Turn
		updates []client.Update
		want    string // the numbers of the events of the turn
		over    bool
		err     error
	}{
		"what runs before is not its own": {NewTurn(sent), []client.Update{{Events: []protocol.Event{begin(1, "trn_other"), end(2, "trn_other"), said(3, ""), begin(4, "trn_mine"), delta(5), end(6, "trn_mine"), delta(7)}}}, "3456", true, nil},
		"the message was not seen":        {NewTurn(sent), []client.Update{{Events: []protocol.Event{begin(4, "trn_mine"), delta(5)}}, {Events: []protocol.Event{end(6, "trn_mine")}}}, "456", true, nil},
		"of a message that waited":        {NewTurn(queued), []client.Update{{Events: []protocol.Event{begin(1, "trn_other"), delta(2), said(3, "itm_mine"), delta(4), end(5, "trn_other")}}}, "345", true, nil},
		"until another message begins":    {NewTurn(queued), []client.Update{{Events: []protocol.Event{said(3, "itm_mine"), delta(4), said(5, "itm_other"), delta(6)}}}, "34", true, nil},
		"all that comes":                  {NewTurn(sent).All(), []client.Update{{Events: []protocol.Event{delta(1), said(3, ""), said(4, "itm_other"), end(5, "trn_mine")}}}, "1345", true, nil},
		"its end is in the state":         {NewTurn(sent), []client.Update{{Events: []protocol.Event{said(3, "")}}, fresh(protocol.Live{Ended: &protocol.LiveEnd{TurnID: "trn_mine"}})}, "3", true, nil},
		"its end was never seen":          {NewTurn(sent), []client.Update{{Events: []protocol.Event{said(3, "")}}, fresh(protocol.Live{Ended: &protocol.LiveEnd{TurnID: "trn_other"}})}, "3", false, ErrUnseen},
		"it has not begun":                {NewTurn(queued), []client.Update{fresh(protocol.Live{}), {Events: []protocol.Event{delta(1)}}}, "", false, nil},
		"it runs on":                      {NewTurn(sent), []client.Update{{Events: []protocol.Event{said(3, "")}}, fresh(protocol.Live{Running: true, TurnID: "trn_mine"})}, "3", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			var over bool
			var err error
			for _, u := range c.updates {
				var events []protocol.Event
				var ended Ended
				events, ended, err = c.turn.Take(&u)
				for _, e := range events {
					got.WriteByte('0' + byte(e.Seq))
				}
				over = ended.Over
			}
			if got.String() != c.want || over != c.over || !errors.Is(err, c.err) {
				t.Errorf("events %q, over %v, %v; want %q, %v, %v", got.String(), over, err, c.want, c.over, c.err)
			}
		})
	}
}

func TestActivityIsIdleWhenAllIsSeenAndNothingRuns(t *testing.T) {
	a := NewActivity(2)
	take := func(events ...protocol.Event) { a.Take(&client.Update{Events: events}) }
	idle := func(want bool, through protocol.Seq) {
		t.Helper()
		if got := a.Idle(&protocol.Live{PersistentLastSeq: through}); got != want {
			t.Errorf("idle is %v, want %v", got, want)
		}
	}
	idle(true, 2)
	idle(false, 3) // something is stored that was not seen
	take(said(3, ""))
	idle(false, 3) // its turn is about to begin
	take(begin(4, "trn_1"))
	idle(false, 3)
	take(end(5, "trn_1"))
	idle(true, 3)
	a.Join(&protocol.Live{Running: true, TurnID: "trn_1"}) // it was looked up before its end
	idle(true, 3)
	a.Join(&protocol.Live{Running: true, TurnID: "trn_2"})
	idle(false, 3)
	a.Take(&client.Update{Fresh: true, Live: &protocol.Live{PersistentLastSeq: 9}})
	idle(true, 9)
	waits := []protocol.LiveQueue{{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{{ID: "itm_1"}}}}
	a.Expect(&protocol.Live{Queues: waits})
	idle(false, 9)
	take(numbered(10, &protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Paused: true})) // a person has to see to it
	idle(true, 10)
	if a.Runs != 1 {
		t.Errorf("%d turns have begun", a.Runs)
	}
}

func TestEndOfATurnIsReportedOnce(t *testing.T) {
	ended := &protocol.Live{Ended: &protocol.LiveEnd{TurnID: "trn_1"}}
	var n Ending
	want := func(l *protocol.Live, known, want bool) {
		t.Helper()
		if end, missed := n.Missed(l); missed != want || (end != nil) != known {
			t.Errorf("missed %v, its end %v; want %v, known %v", missed, end, want, known)
		}
	}
	want(ended, false, false) // it was never seen to run
	n.Event(begin(1, "trn_1"))
	want(&protocol.Live{Running: true, TurnID: "trn_1"}, false, false)
	n.Event(end(2, "trn_1"))
	want(ended, false, false)
	n.Event(begin(3, "trn_1"))
	want(ended, true, true)
	want(ended, false, false)
	n.Event(begin(4, "trn_2"))
	want(ended, false, true) // the host that knew was killed
	want(ended, false, false)
}

func TestHowAMessageWaitsIsKnown(t *testing.T) {
	queue := func(paused bool, items ...protocol.ItemID) protocol.QueueUpdate {
		b := protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Paused: paused}
		for _, id := range items {
			b.Items = append(b.Items, protocol.QueueItem{ID: id})
		}
		return b
	}
	turn := NewTurn(&protocol.Sent{ItemID: "itm_1"})
	for i, c := range []struct {
		events []protocol.QueueUpdate // the last one is the state
		fresh  bool
		paused bool
		want   error
	}{
		{[]protocol.QueueUpdate{queue(false)}, false, false, nil}, // the answer has come before the update
		{[]protocol.QueueUpdate{queue(false, "itm_0", "itm_1")}, false, false, nil},
		{[]protocol.QueueUpdate{queue(true, "itm_1")}, false, true, nil},
		{[]protocol.QueueUpdate{queue(false, "itm_1")}, false, false, nil},
		{[]protocol.QueueUpdate{queue(true, "itm_1"), queue(false, "itm_1")}, false, true, nil}, // both in one update
		{[]protocol.QueueUpdate{queue(true, "itm_1")}, true, true, nil},
		{[]protocol.QueueUpdate{queue(false, "itm_0")}, false, false, ErrTakenOut},
	} {
		last := c.events[len(c.events)-1]
		u := &client.Update{Fresh: c.fresh}
		for n := range c.events {
			u.Events = append(u.Events, protocol.NewEvent(&c.events[n]))
		}
		paused, err := turn.Stands(u, &protocol.Live{Queues: []protocol.LiveQueue{{Queue: last.Queue, Items: last.Items, Paused: last.Paused}}})
		if paused != c.paused || !errors.Is(err, c.want) {
			t.Errorf("%d: paused %v, %v; want %v, %v", i, paused, err, c.paused, c.want)
		}
	}
	taken := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Meta: &protocol.MessageMeta{QueueItemID: "itm_1"}}})
	u := &client.Update{Events: []protocol.Event{taken}}
	if _, _, err := turn.Take(u); err != nil || turn.Waits() {
		t.Errorf("its turn has begun: %v, waits %v", err, turn.Waits())
	}
	if paused, err := turn.Stands(u, &protocol.Live{}); paused || err != nil {
		t.Errorf("it waits still: %v, %v", paused, err)
	}
}
