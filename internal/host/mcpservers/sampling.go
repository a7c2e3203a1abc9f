package mcpservers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/model"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

const (
	// maxShownMessage and maxShownSample are how much of a message, and of all of them, people
	// are shown before a model is asked for a server, in bytes.
	maxShownMessage = 1 << 10
	maxShownSample  = 8 << 10
)

// errRefused is what a server is told of a completion that people refuse.
var errRefused = errors.New("the user does not allow this completion")

// sample asks the auxiliary model for a server, if people agree who have seen what is asked
// and what it can cost. An error is for the server. What is not asked is told to people.
func (o *Offer) sample(ctx context.Context, server, callID string, q connect.Sample) (connect.Sampled, error) {
	list := o.servers()
	at := slices.IndexFunc(list, func(u *used) bool { return u.entry.Name == server && u.entry.Sampling })
	if at < 0 {
		return connect.Sampled{}, errRefused
	}
	refuse := func(why string) (connect.Sampled, error) {
		o.faults(list[at], []string{"a completion that it asked for is refused: " + why})
		return connect.Sampled{}, errors.New("the completion is refused")
	}
	m, err := o.s.cfg.Asker.Model("")
	if err != nil {
		return refuse(strings.TrimSuffix(failure.Sentence(err), "."))
	}
	req := sampleRequest(q)
	if most := m.Info().MaxTokens; most > 0 {
		req.MaxTokens = min(req.MaxTokens, most)
	}
	value, ok := o.s.cfg.People.Ask(ctx, o.id, protocol.Dialog{Kind: protocol.DialogConfirm, ToolCallID: callID, Source: "MCP server " + server,
		Title: "May the server ask a model?", Message: sampleShown(q, m.Info(), req)}, o.timeout)
	switch {
	case ctx.Err() != nil:
		return connect.Sampled{}, ctx.Err()
	case !ok:
		return refuse("nobody has answered whether it may")
	case string(value) != "true":
		return connect.Sampled{}, errRefused
	}
	answer, err := o.s.cfg.Asker.CompleteWith(ctx, o.id, m, req)
	if err != nil {
		if ctx.Err() != nil {
			return connect.Sampled{}, ctx.Err()
		}
		return refuse(strings.TrimSuffix(failure.Sentence(err), "."))
	}
	text := answer.PlainText()
	if strings.TrimSpace(text) == "" {
		return refuse("the model has answered nothing")
	}
	return connect.Sampled{Text: text, Model: m.Info().ID, Whole: answer.StopReason == protocol.StopEndTurn}, nil
}

// sampleRequest is what the model is asked.
func sampleRequest(q connect.Sample) model.Request {
	req := model.Request{Kind: model.KindStep, System: q.System, MaxTokens: q.MaxTokens, Thinking: model.ThinkingOff}
	for _, m := range q.Messages {
		said := protocol.UserText(m.Text)
		if m.Assistant {
			said = protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text(m.Text)}, StopReason: protocol.StopEndTurn}
		}
		req.Messages = append(req.Messages, said)
	}
	return req
}

// sampleShown is what people see of a completion: what it can cost, then the beginnings of its
// messages.
func sampleShown(q connect.Sample, info model.Info, req model.Request) string {
	size := len(q.System)
	for _, m := range q.Messages {
		size += len(m.Text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "It asks %s with %d bytes of text, for an answer of at most %d tokens. ", info.Ref, size, req.MaxTokens)
	if info.Price == (model.Price{}) {
		b.WriteString("No price of the model is known.")
	} else { // no token is shorter than a byte
		fmt.Fprintf(&b, "That costs at most $%.4f.", info.Price.Cost(protocol.Usage{InputTokens: size + 10*len(q.Messages), OutputTokens: req.MaxTokens}))
	}
	b.WriteString(" The server gets the answer.")
	list := q.Messages
	if q.System != "" {
		fmt.Fprintf(&b, "\n\nSystem: %s", beginning(q.System))
	}
	for i, m := range list {
		who := "User"
		if m.Assistant {
			who = "Assistant"
		}
		line := fmt.Sprintf("\n\n%s: %s", who, beginning(m.Text))
		if b.Len()+len(line) > maxShownSample {
			fmt.Fprintf(&b, "\n\n… and %d more messages", len(list)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// beginning cuts a text for people.
func beginning(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxShownMessage {
		return text
	}
	head := strings.ToValidUTF8(text[:maxShownMessage], "")
	return fmt.Sprintf("%s… (%d more bytes)", head, len(text)-len(head))
}
