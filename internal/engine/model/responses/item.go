package responses

import (
	"encoding/json"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Types of items and of parts.
const (
	typeMessage   = "message"
	typeReasoning = "reasoning"
	typeCall      = "function_call"
	typeOutput    = "function_call_output"
)

// item is one of a request. It points to where its texts are.
type item struct {
	kind string
	id   string // "" when it has none to send

	status, phase string            // of an assistant's message
	texts         []string          // of an assistant's message
	thought       *thought          // of reasoning
	call          *protocol.Block   // of a call
	from          *protocol.Message // of a user's message or an output
}

// maxID is how long ids may be that are sent. Longer ones come from some servers
// (Copilot, the gateway of Codex) and are refused when they go back; an id may be
// left out.
const maxID = 64

func usableID(id string) string {
	if len(id) > maxID {
		return ""
	}
	return id
}

// thought is the provider data of a thinking block: a reasoning item.
type thought struct {
	ID      string   `json:"id,omitempty"`
	Sealed  string   `json:"encrypted_content"`
	Summary []string `json:"summary"`
}

// origin is the provider data of a text or a call: the item that it came in.
// Texts with one id are parts of one message.
type origin struct {
	ID    string `json:"id,omitempty"`
	Phase string `json:"phase,omitempty"` // commentary or final_answer; newer models get worse when it is lost
	// After is the number of reasoning items directly before. The server refuses
	// reasoning "without its required following item", and an item whose reasoning
	// is missing: either all of it goes back, or none of it with an id.
	After int `json:"after,omitempty"`
	// Follows is the id of the last of them, since what stood between may have been
	// left out of the request. Logs of older versions do not have it.
	Follows string `json:"follows,omitempty"`
}

// belongs reports whether the reasoning before an item is all that it came with.
func (o origin) belongs(before []item) bool {
	n := len(before)
	return o.After == n && (n == 0 || o.Follows == "" || o.Follows == before[n-1].id)
}

func providerData(modelID string, v any) *protocol.ProviderData {
	data, err := json.Marshal(v)
	if err != nil { // a struct of strings and numbers
		return nil
	}
	return &protocol.ProviderData{API: string(model.APIResponses), Model: modelID, Data: data}
}

// answered makes the items of an assistant message that [model.Fit] has passed.
func answered(content []protocol.Block) []item {
	var out, held []item // held: reasoning that waits for what belongs to it
	whole := true
	for i := range content {
		b := &content[i]
		if b.Type == protocol.BlockThinking {
			if it, ok := reasoningItem(b); ok {
				held = append(held, it)
			} else {
				whole = false
			}
			continue
		}
		from, own := originOf(b)
		whole = whole && own && from.belongs(held)
		if whole {
			out = append(out, held...)
		} else {
			from.ID = ""
		}
		held = nil
		if b.Type == protocol.BlockToolUse {
			out = append(out, item{kind: typeCall, id: from.ID, call: b})
			continue
		}
		if n := len(out); n > 0 && from.ID != "" && out[n-1].kind == typeMessage && out[n-1].id == from.ID {
			out[n-1].texts = append(out[n-1].texts, b.Text)
			continue
		}
		it := item{kind: typeMessage, id: from.ID, phase: from.Phase, texts: []string{b.Text}}
		if it.id != "" {
			it.status = "completed"
		}
		out = append(out, it)
	}
	return out
}

func reasoningItem(b *protocol.Block) (item, bool) {
	var t thought
	if json.Unmarshal(b.Provider.Data, &t) != nil || t.Sealed == "" {
		return item{}, false
	}
	return item{kind: typeReasoning, id: t.ID, thought: &t}, true
}

func originOf(b *protocol.Block) (origin, bool) {
	var o origin
	if b.Provider == nil || json.Unmarshal(b.Provider.Data, &o) != nil {
		return origin{}, false
	}
	return o, true
}
