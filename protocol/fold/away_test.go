package fold_test

import (
	"testing"

	"scorel/protocol"
	"scorel/protocol/fold"
)

func TestTurnsThatBeganByThemselvesAreCountedSinceAPersonSpoke(t *testing.T) {
	said := func(role protocol.Role, stop protocol.StopReason, source protocol.Source, usd float64) protocol.Event {
		m := protocol.Message{Role: role, StopReason: stop}
		if source != "" {
			m.Meta = &protocol.MessageMeta{Source: source}
		}
		if usd > 0 {
			m.Usage = &protocol.Usage{CostUSD: usd}
		}
		return protocol.NewEvent(&protocol.MessageBody{Message: m})
	}
	person := said(protocol.RoleUser, "", "", 0)
	scheduled := said(protocol.RoleUser, "", protocol.SourceSchedule, 0)
	ticked := said(protocol.RoleUser, "", protocol.SourceProactive, 0)
	notice := protocol.NewEvent(&protocol.HarnessItem{})
	again := protocol.NewEvent(&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityHidden}})
	withdrawn := protocol.NewEvent(&protocol.SessionInfo{Asked: "m", Usage: &protocol.Usage{CostUSD: 0.125}})
	cut := said(protocol.RoleAssistant, protocol.StopMaxTokens, "", 0.25)
	calls := said(protocol.RoleAssistant, protocol.StopToolUse, "", 0.25)
	result := said(protocol.RoleToolResult, "", "", 0)
	ends := said(protocol.RoleAssistant, protocol.StopEndTurn, "", 0.5)
	fails := said(protocol.RoleAssistant, protocol.StopError, "", 0)
	type events = []protocol.Event
	for name, c := range map[string]struct {
		events events
		want   fold.Away
		text   string
	}{
		"nothing":                                 {},
		"a turn of a person":                      {events: events{person, calls, result, ends}},
		"a notice during a turn of a person":      {events: events{person, calls, result, notice, ends}},
		"a notice that waits":                     {events: events{person, ends, notice}},
		"a notice that a person's message brings": {events: events{person, ends, notice, person, ends}},
		"a wake": {events{person, ends, notice, notice, calls, result, ends}, fold.Away{Turns: 1, CostUSD: 0.75},
			"while you were away, 1 turn began by itself; cost $0.7500"},
		"wakes, of which one failed": {events{person, ends, notice, fails, notice, ends}, fold.Away{Turns: 2, Failed: 1, CostUSD: 0.5},
			"while you were away, 2 turns began by themselves; failed or cancelled: 1; cost $0.5000"},
		"an answer that is continued":     {events: events{person, withdrawn, cut, again, cut, again, ends}},
		"an answer that a hook continues": {events: events{person, ends, again, ends}},
		"a wake whose answer is continued": {events{person, ends, notice, withdrawn, cut, again, withdrawn, ends}, fold.Away{Turns: 1, CostUSD: 1},
			"while you were away, 1 turn began by itself; cost $1.0000"},
		"a schedule":              {events{person, ends, scheduled, ends}, fold.Away{Turns: 1, CostUSD: 0.5}, "while you were away, 1 turn began by itself; cost $0.5000"},
		"proactive mode":          {events{person, ends, ticked, ends}, fold.Away{Turns: 1, CostUSD: 0.5}, "while you were away, 1 turn began by itself; cost $0.5000"},
		"a person after all that": {events: events{person, ends, notice, ends, person, ends}},
	} {
		for i := range c.events {
			c.events[i].Seq = protocol.Seq(i + 1)
		}
		if got := fold.AwayOf(c.events, protocol.Seq(len(c.events))); got != (fold.Away{}) {
			t.Errorf("%s, all of it seen: %+v", name, got)
		}
		if got := fold.AwayOf(c.events, 0); got != c.want || got.Text() != c.text {
			t.Errorf("%s: %+v %q", name, got, got.Text())
		}
	}
}
