package history

import (
	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Parts says what fills the window: the tokens of each kind of what is sent, in the order
// in which it is sent. Together they are exactly [Context.Tokens]; tools is how many are
// described. What is not there is left out.
func (c *Context) Parts(w Window, tools int) []protocol.ContextPart {
	order := []protocol.ContextPartName{protocol.PartSystem, protocol.PartTools, protocol.PartSummary, protocol.PartMemory, protocol.PartSkills, protocol.PartNotes,
		protocol.PartUser, protocol.PartAssistant, protocol.PartThinking, protocol.PartCalls, protocol.PartToolResults}
	parts := make([]protocol.ContextPart, len(order))
	for i, name := range order {
		parts[i].Name = name
	}
	add := func(name protocol.ContextPartName, tokens, count int) {
		for i := range parts {
			if parts[i].Name == name {
				parts[i].Tokens += tokens
				parts[i].Count += count
			}
		}
	}
	add(protocol.PartSystem, w.System, 1)
	add(protocol.PartTools, w.Tools, tools)
	for _, n := range c.notes {
		name := protocol.PartNotes
		switch n.item.Kind {
		case protocol.ItemMemory:
			name = protocol.PartMemory
		case protocol.ItemSkillListing, protocol.ItemSkillDelta, protocol.ItemServerPrompts:
			name = protocol.PartSkills
		}
		add(name, model.EstimateText(n.item.Content), 1)
	}
	for i := range c.elems {
		e := &c.elems[i]
		switch {
		case e.kind == kindSummary || e.kind == kindBranch:
			add(protocol.PartSummary, model.EstimateTokens(*e.Message), 1)
		case e.isResult():
			add(protocol.PartToolResults, model.EstimateTokens(*e.Message), 1)
		case e.Message.Role == protocol.RoleAssistant:
			for _, b := range e.Message.Content {
				name := protocol.PartAssistant
				switch b.Type {
				case protocol.BlockThinking:
					name = protocol.PartThinking
				case protocol.BlockToolUse:
					name = protocol.PartCalls
				}
				add(name, model.EstimateTokens(protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{b}}), 1)
			}
		case e.kind == kindCustom:
			add(protocol.PartNotes, model.EstimateTokens(*e.Message), 1)
		default:
			add(protocol.PartUser, model.EstimateTokens(*e.Message), 1)
		}
	}
	return fit(parts, c.Tokens)
}

// fit corrects estimates so that they add up to a sum; what rounding leaves goes to the
// largest. Parts without tokens are left out.
func fit(parts []protocol.ContextPart, sum int) []protocol.ContextPart {
	guess := 0
	for _, p := range parts {
		guess += p.Tokens
	}
	var out []protocol.ContextPart
	left, largest := sum, 0
	for _, p := range parts {
		if p.Tokens == 0 {
			continue
		}
		p.Tokens = int(int64(p.Tokens) * int64(sum) / int64(guess))
		left -= p.Tokens
		out = append(out, p)
		if p.Tokens > out[largest].Tokens {
			largest = len(out) - 1
		}
	}
	if len(out) > 0 {
		out[largest].Tokens += left
	}
	return out
}
