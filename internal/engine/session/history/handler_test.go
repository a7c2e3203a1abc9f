package history

import (
	"testing"

	"scorel/protocol"
)

// TestEachEventTypeTakesPartAsTheTableOfEventsSays holds the column "in the
// context" of the table of persistent events.
func TestEachEventTypeTakesPartAsTheTableOfEventsSays(t *testing.T) {
	steer := protocol.UserText("x")
	steer.Meta = &protocol.MessageMeta{Source: protocol.SourceSteer}
	follow := protocol.UserText("x")
	follow.Meta = &protocol.MessageMeta{Source: protocol.SourceFollowUp}
	left := map[*protocol.EventSpec]bool{} // those that have no line of their own below
	for _, s := range protocol.EventSpecs() {
		left[s] = true
	}
	message := func(m protocol.Message) protocol.Body { return &protocol.MessageBody{Message: m} }
	for _, c := range []struct {
		name string
		body protocol.Body
		want action
	}{
		{"user", message(protocol.UserText("x")), include},
		{"assistant", message(answerOf("x")), include},
		{"tool_result", message(resultOf("a", "x")), include},
		{"steer", message(steer), mergePrev},
		{"followUp", message(follow), include},
		{"internal", message(protocol.Message{Role: protocol.RoleInternal}), skip},
		{"role of a later version", message(protocol.Message{Role: "narrator"}), skip},
		{"compact", &protocol.Compact{}, barrier},
		{"custom_message", &protocol.CustomMessage{Message: protocol.UserText("x")}, include},
		{"harness_item", &protocol.HarnessItem{}, mergePrev},
		{"branch_summary", &protocol.BranchSummary{}, include},
		{"rewind", &protocol.Rewind{}, skip},
		{"branch", &protocol.Branch{}, skip},
		{"channel_inject", &protocol.ChannelInject{}, skip},
		{"session_info", &protocol.SessionInfo{}, skip},
		{"custom", &protocol.Custom{}, skip},
		{"label", &protocol.Label{}, skip},
		{"instruction_snapshot", &protocol.InstructionSnapshot{}, skip},
		{"queue_update", &protocol.QueueUpdate{}, skip},
		{"skill_index_snapshot", &protocol.SkillIndexSnapshot{}, skip},
		{"skill_index_delta", &protocol.SkillIndexDelta{}, skip},
		{"permission_decision", &protocol.PermissionDecision{}, skip},
		{"file_snapshot", &protocol.FileSnapshot{}, skip},
		{"context_cut", &protocol.ContextCut{}, skip},
		{"type of a later version", &protocol.Unknown{Type: "later"}, skip},
	} {
		if s := protocol.SpecOfEvent(c.body.EventType()); s != nil {
			delete(left, s)
		}
		ev := protocol.Event{Envelope: protocol.Envelope{Type: c.body.EventType()}, Body: c.body}
		if got := handlerOf(ev.Type)(ev, &answer{}); got != c.want {
			t.Errorf("%s: action %d, want %d", c.name, got, c.want)
		}
	}
	for s := range left {
		ev := protocol.NewEvent(s.New())
		if got := handlerOf(ev.Type)(ev, &answer{}); (s.Context == protocol.None || s.Class == protocol.Control) && got != skip {
			t.Errorf("%s takes part (%d), and its spec says %s", s.Type, got, s.Context)
		}
	}
}
