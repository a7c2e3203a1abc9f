package responses

import (
	"bytes"
	"encoding/json"

	"scorel/internal/model"
	"scorel/protocol"
)

// Types of items and of parts.
const (
	typeMessage   = "message"
	typeReasoning = "reasoning"
	typeCall      = "function_call"
	typeOutput    = "function_call_output"

	partText   = "input_text"
	partOutput = "output_text"
)

// item is one of a request.
type item struct {
	Type    string  `json:"type"`
	ID      string  `json:"id,omitempty"`
	Role    string  `json:"role,omitempty"`
	Status  string  `json:"status,omitempty"`
	Phase   string  `json:"phase,omitempty"`
	Content []part  `json:"content,omitempty"`
	Summary *[]part `json:"summary,omitempty"` // of reasoning, also when it is empty
	Sealed  string  `json:"encrypted_content,omitempty"`

	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Output    any    `json:"output,omitempty"` // string or []part
}

type part struct {
	Type        string      `json:"type"`
	Text        string      `json:"text,omitempty"`
	Annotations *[]struct{} `json:"annotations,omitempty"` // of output_text, also when there are none
	Detail      string      `json:"detail,omitempty"`
	ImageURL    string      `json:"image_url,omitempty"`
	Filename    string      `json:"filename,omitempty"`
	FileData    string      `json:"file_data,omitempty"`
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
	for _, b := range content {
		if b.Type == protocol.BlockThinking {
			if it, ok := reasoningItem(b); ok {
				held = append(held, it)
			} else {
				whole = false
			}
			continue
		}
		from, own := originOf(b)
		whole = whole && own && from.After == len(held)
		if whole {
			out = append(out, held...)
		} else {
			from.ID = ""
		}
		held = nil
		if b.Type == protocol.BlockToolUse {
			out = append(out, item{Type: typeCall, ID: from.ID, CallID: b.ID, Name: b.Name, Arguments: compact(b.Input)})
			continue
		}
		p := part{Type: partOutput, Text: b.Text, Annotations: &[]struct{}{}}
		if n := len(out); n > 0 && from.ID != "" && out[n-1].Type == typeMessage && out[n-1].ID == from.ID {
			out[n-1].Content = append(out[n-1].Content, p)
			continue
		}
		it := item{Type: typeMessage, ID: from.ID, Role: "assistant", Phase: from.Phase, Content: []part{p}}
		if it.ID != "" {
			it.Status = "completed"
		}
		out = append(out, it)
	}
	return out
}

func reasoningItem(b protocol.Block) (item, bool) {
	var t thought
	if json.Unmarshal(b.Provider.Data, &t) != nil || t.Sealed == "" {
		return item{}, false
	}
	summary := make([]part, 0, len(t.Summary))
	for _, s := range t.Summary {
		summary = append(summary, part{Type: "summary_text", Text: s})
	}
	return item{Type: typeReasoning, ID: t.ID, Summary: &summary, Sealed: t.Sealed}, true
}

func originOf(b protocol.Block) (origin, bool) {
	var o origin
	if b.Provider == nil || json.Unmarshal(b.Provider.Data, &o) != nil {
		return origin{}, false
	}
	return o, true
}

// compact writes the input of a call without white space.
func compact(input json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, input); err != nil {
		return "{}"
	}
	return b.String()
}
