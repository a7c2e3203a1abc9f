package google

import "encoding/json"

// request is the body of a call, as in https://ai.google.dev/api/generate-content.
type request struct {
	System     *content          `json:"systemInstruction,omitempty"`
	Tools      []tools           `json:"tools,omitempty"`
	ToolConfig *toolConfig       `json:"toolConfig,omitempty"`
	Contents   []content         `json:"contents"`
	Generation *generationConfig `json:"generationConfig,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	Thinking        *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

// function declares a tool. Of the two forms for its input the JSON Schema is sent:
// the other, "parameters", knows a part of it only and refuses all else.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	Calling struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

// Roles of contents. Results of calls are the user's.
const (
	roleUser  = "user"
	roleModel = "model"
)

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is one piece of a content: exactly one of Text, Inline, Call and Result.
type part struct {
	Text      string  `json:"text,omitempty"`
	Thought   bool    `json:"thought,omitempty"`
	Inline    *blob   `json:"inlineData,omitempty"`
	Call      *call   `json:"functionCall,omitempty"`
	Result    *result `json:"functionResponse,omitempty"`
	Signature string  `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MediaType string `json:"mimeType"`
	Data      string `json:"data"` // base64
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type result struct {
	ID       string  `json:"id,omitempty"`
	Name     string  `json:"name"`
	Response outcome `json:"response"`
	// Parts are images and documents, for models that read them there.
	Parts []part `json:"parts,omitempty"`
}

// outcome is what a call gave. The vendor knows these two keys.
type outcome struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}
