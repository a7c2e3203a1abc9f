package model

import (
	"encoding/json"

	"scorel/protocol"
)

// thoughtData is the provider data of a block that Gemini signed.
type thoughtData struct {
	ThoughtSignature string `json:"thoughtSignature"`
}

// ThoughtSigned is the provider data of a block that came with a thought signature
// of the model that info describes. Nil without one.
func ThoughtSigned(info Info, signature string) *protocol.ProviderData {
	if signature == "" {
		return nil
	}
	data, err := json.Marshal(thoughtData{signature})
	if err != nil { // a string always can be written
		return nil
	}
	return &protocol.ProviderData{API: string(APIGoogle), Model: info.ID, Data: data}
}

// ThoughtSignature is the thought signature that b carries, whoever made it; empty
// without one.
func ThoughtSignature(b protocol.Block) string {
	if b.Provider == nil || b.Provider.API != string(APIGoogle) {
		return ""
	}
	var d thoughtData
	if json.Unmarshal(b.Provider.Data, &d) != nil {
		return ""
	}
	return d.ThoughtSignature
}
