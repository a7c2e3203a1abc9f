package addition

import (
	"strings"

	"scorel/internal/engine/hook"
	"scorel/protocol"
)

// maxNote bounds a note of a hook for the model, in bytes; a longer one is cut.
const maxNote = 64 << 10

// NoteBodies returns what hooks say as harness items.
func NoteBodies(notes []hook.Note) []protocol.Body {
	bodies := make([]protocol.Body, len(notes))
	for i, n := range notes {
		bodies[i] = NoteBody(n.Text)
	}
	return bodies
}

// NoteBody returns a note for the model as a harness item.
func NoteBody(text string) protocol.Body {
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + "\n[cut]"
	}
	return &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemHookContext, Origin: protocol.OriginExtension,
		Content: text, Visibility: protocol.VisibilityHidden}}
}
