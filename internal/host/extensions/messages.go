package extensions

import (
	"context"
	"encoding/json"
	"fmt"

	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/lane"
	"scorel/protocol"
)

// sentMessage is [rpc.SendMessage] and [rpc.SendUser], with images as they come.
type sentMessage struct {
	CustomType  string            `json:"customType"`
	Content     []json.RawMessage `json:"content"`
	Display     bool              `json:"display"`
	Details     json.RawMessage   `json:"details"`
	DeliverAs   string            `json:"deliverAs"`
	TriggerTurn bool              `json:"triggerTurn"`
}

// sendMessage adds a message of an extension: at the next step boundary, or, where that
// is said, when the turn has ended. One that begins a turn is a message as a user
// sends it.
func (x *Session) sendMessage(ctx context.Context, e extension.Extension, p *sentMessage) error {
	content, err := x.set.Blocks(ctx, p.Content)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		return fmt.Errorf("the message is empty")
	}
	if p.CustomType != "" && !kindName(p.CustomType) {
		return fmt.Errorf("customType is not a name: at most %d bytes on one line, without control characters", maxEntryKind)
	}
	if x.set.Immediate(e.ID) {
		return fmt.Errorf("a command that runs beside a turn cannot add messages; register it without immediate")
	}
	body := extension.CustomMessage(rpc.SendMessage{CustomType: p.CustomType, Content: content, Display: p.Display, Details: p.Details})
	switch p.DeliverAs {
	case "", "steer", "nextTurn", "followUp":
	default:
		return fmt.Errorf("deliverAs is %.40q; it is steer, followUp or nextTurn", p.DeliverAs)
	}
	if p.TriggerTurn && !x.lane.Conversing() {
		return x.send(ctx, content, "")
	}
	if p.DeliverAs == "followUp" || p.DeliverAs == "nextTurn" {
		return x.lane.Additions().AddAfter(ctx, body)
	}
	return x.lane.Additions().Add(ctx, body)
}

// send sends a message as if the user had.
func (x *Session) send(ctx context.Context, content []protocol.Block, deliverAs string) error {
	m := lane.Message{Content: content, Busy: lane.BusyFollowUp, Source: "extension"}
	switch deliverAs {
	case "", "followUp", "nextTurn":
	case "steer":
		m.Busy = lane.BusySteer
	default:
		return fmt.Errorf("deliverAs is %.40q; it is steer or followUp", deliverAs)
	}
	x.seen.mu.Lock()
	x.seen.own++
	many := x.seen.own > maxOwnTurns
	x.seen.mu.Unlock()
	if many {
		return fmt.Errorf("extensions have sent %d messages in a row; a person has to send one before they may send more", maxOwnTurns)
	}
	send := func(ctx context.Context) error {
		_, err := x.lane.Send(ctx, x.caller(), m)
		return err
	}
	if x.later("A message of an extension was not sent", send) {
		return nil
	}
	return send(ctx)
}
