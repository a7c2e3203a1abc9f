package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// event is an event of a stream. Most events are deltas of a few letters, for
// which the SDK's decoder takes many times as long as what is done with them: it
// looks up all fields of all kinds of events. Deltas are decoded here, all others
// and whatever has an odd form by the SDK.
type event struct {
	Type  string `json:"type"`
	Index int64  `json:"index"`
	Delta delta  `json:"delta"`
	// SDK is the event as the SDK decodes it; nil for a usual delta. It is a
	// pointer because it has more than 5 KB.
	SDK *sdk.MessageStreamEventUnion `json:"-"`
}

// delta is what a content_block_delta adds to its block.
type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	PartialJSON string `json:"partial_json"`
	Signature   string `json:"signature"`
}

// UnmarshalJSON decodes one event.
func (e *event) UnmarshalJSON(data []byte) error {
	type plain event
	if json.Unmarshal(data, (*plain)(e)) == nil && e.Type == "content_block_delta" {
		return nil
	}
	u := &sdk.MessageStreamEventUnion{}
	if err := u.UnmarshalJSON(data); err != nil {
		return err
	}
	d := u.Delta
	*e = event{Type: u.Type, Index: u.Index, SDK: u,
		Delta: delta{Type: d.Type, Text: d.Text, Thinking: d.Thinking, PartialJSON: d.PartialJSON, Signature: d.Signature}}
	return nil
}
