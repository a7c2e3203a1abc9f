package google

import "encoding/json"

// Roles of contents. Results of calls are the user's.
const (
	roleUser  = "user"
	roleModel = "model"
)

// content is what an answer consists of, as in
// https://ai.google.dev/api/generate-content.
type content struct {
	Parts []part `json:"parts"`
}

// part is one piece of a content.
type part struct {
	Text      string    `json:"text"`
	Thought   bool      `json:"thought"`
	Inline    *struct{} `json:"inlineData"`
	Call      *call     `json:"functionCall"`
	Result    *struct{} `json:"functionResponse"`
	Signature string    `json:"thoughtSignature"`
}

type call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}
