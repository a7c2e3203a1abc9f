package rpc

import "encoding/json"

// Render asks an extension how it draws a call of a tool, a message, or its header or footer.
type Render struct {
	Ext        string          `json:"ext"`
	Tool       string          `json:"tool,omitempty"` // as it is registered
	ToolCallID string          `json:"toolCallId,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Result     *ToolResult     `json:"result,omitempty"` // nil: there is none yet
	Place      string          `json:"place,omitempty"`  // a header or footer, instead of the two
	Message    *SendMessage    `json:"message,omitempty"`
	Width      int             `json:"width"`
	Expanded   bool            `json:"expanded"`
}

// Rendered is what it draws; nil is what it does not draw.
type Rendered struct {
	Call *[]string `json:"call,omitempty"`
	Body *[]string `json:"body,omitempty"`
}
