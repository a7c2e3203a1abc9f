package model

import (
	"encoding/json"

	"scorel/protocol"
)

// GoogleData is what the Gemini API needs to get back with a block, as it is in
// the block's provider data.
type GoogleData struct {
	// ThoughtSignature is what the part was signed with.
	ThoughtSignature string `json:"thoughtSignature,omitempty"`
	// CallID is the id that the server gave a call; empty when it gave none, because
	// the servers that give none do not know the field.
	CallID string `json:"callId,omitempty"`
}

// Block makes the provider data for a block of the model that info describes; nil
// when there is nothing to give back.
func (d GoogleData) Block(info Info) *protocol.ProviderData {
	if d == (GoogleData{}) {
		return nil
	}
	data, err := json.Marshal(d)
	if err != nil { // strings always can be written
		return nil
	}
	return &protocol.ProviderData{API: string(APIGoogle), Model: info.ID, Data: data}
}

// GoogleDataOf reads the provider data of a block, whoever's it is; zero when the
// block has none of the Gemini API.
func GoogleDataOf(b protocol.Block) GoogleData {
	var d GoogleData
	if b.Provider == nil || b.Provider.API != string(APIGoogle) || json.Unmarshal(b.Provider.Data, &d) != nil {
		return GoogleData{}
	}
	return d
}
