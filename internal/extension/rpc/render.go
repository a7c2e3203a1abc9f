package rpc

import (
	"encoding/json"

	"scorel/protocol"
)

// Render asks an extension how it draws a call of a tool, a message, its header or footer, or
// an editor, which it brings keys for.
type Render struct {
	Ext        string          `json:"ext"`
	Tool       string          `json:"tool,omitempty"` // as it is registered
	ToolCallID string          `json:"toolCallId,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Result     *ToolResult     `json:"result,omitempty"` // nil: there is none yet
	Place      string          `json:"place,omitempty"`  // a header or footer, instead of the two
	Message    *SendMessage    `json:"message,omitempty"`
	Entry      *StoredEntry    `json:"entry,omitempty"`
	Editor     *Editor         `json:"editor,omitempty"`
	Width      int             `json:"width"`
	Expanded   bool            `json:"expanded"`
}

// StoredEntry is a custom event.
type StoredEntry struct {
	ID         protocol.EventID `json:"id"`
	Timestamp  int64            `json:"timestamp"`
	CustomType string           `json:"customType"`
	Data       json.RawMessage  `json:"data,omitempty"`
}

// Editor is the editor of a terminal as it is, with keys for it.
type Editor struct {
	Client string             `json:"client"` // whose editor it is, and which: each has a component of its own
	Data   []string           `json:"data"`
	Text   string             `json:"text"`
	Before int                `json:"before"`
	Lines  []string           `json:"lines"`
	Cursor *protocol.UICursor `json:"cursor,omitempty"`
}

// Rendered is what it draws; nil is what it does not draw. Edits and Cursor are of an editor.
type Rendered struct {
	Call   *[]string             `json:"call,omitempty"`
	Body   *[]string             `json:"body,omitempty"`
	Edits  []protocol.EditorEdit `json:"edits,omitempty"`
	Cursor *protocol.UICursor    `json:"cursor,omitempty"`
}
