package protocol

import "fmt"

// PlaceEditorComponent is the place of a [UIState] of an extension that takes the keys of a
// terminal's editor, and draws it: [EditorInput]. Its first line is another one for each
// editor that is set, and each version of how it looks.
const PlaceEditorComponent = "editorComponent"

// MaxEditorText bounds the text of an editor that an extension takes the keys of, in bytes;
// with a longer one the editor is the client's alone.
const MaxEditorText = 64 << 10

// Requests about an editor that an extension draws.
type (
	// EditorInput brings keys of an editor to the extension that takes them, with the editor as
	// it is. Text and cursor stay the client's: it does what the answer says of them. Without
	// keys the extension only draws. It starts nothing; the answer is an [EditorDrawn].
	EditorInput struct {
		Source string    `json:"source" check:"required,max=MaxName"` // the extension
		Editor string    `json:"editor" check:"required,max=MaxName"` // which one of the client's: another for each terminal
		Data   []string  `json:"data,omitempty"`                      // each one key or one paste, as of [UIInput]
		Text   string    `json:"text,omitempty" check:"max=MaxEditorText"`
		Before int       `json:"before,omitempty" check:"min=0,max=MaxEditorText"` // code points of Text before the cursor
		Width  int       `json:"width" check:"min=0,max=MaxCells"`
		Lines  []string  `json:"lines,omitempty"`  // as the client draws it, with SGR
		Cursor *UICursor `json:"cursor,omitempty"` // in Lines
	}
	// EditorDrawn is what came of it: what the client is to do with the editor, in order, and
	// how the extension draws it as it was asked. Lines hold no control sequences but SGR.
	EditorDrawn struct {
		Edits  []EditorEdit `json:"edits,omitempty"`
		Drawn  *DrawnLines  `json:"drawn,omitempty"`  // nil: as the client draws it
		Cursor *UICursor    `json:"cursor,omitempty"` // none: the cursor is hidden
	}
	// EditorEdit is one thing to do: a key for the client's own editor, a text at its cursor, or
	// another text.
	EditorEdit struct {
		Key    string  `json:"key,omitempty"`
		Insert string  `json:"insert,omitempty"`
		Text   *string `json:"text,omitempty"`
	}
)

var editorInputSpec = Spec{
	Name: "editor_input", Scope: ScopeSession, Grant: GrantControl,
	New: func() Request { return new(EditorInput) }, Reply: func() Response { return new(EditorDrawn) },
}

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *EditorInput) Check() *Problem {
	if p := r.checkFields(); p != nil {
		return p
	}
	if p := checkKeys(r.Data); p != nil {
		return p
	}
	size := 0
	for _, l := range r.Lines {
		size += len(l)
	}
	if len(r.Lines) > MaxFrameLines || size > MaxFrameBytes {
		return &Problem{"lines", fmt.Sprintf("The field lines has %d lines of %d bytes; at most %d of %d.", len(r.Lines), size, MaxFrameLines, MaxFrameBytes)}
	}
	return nil
}

// checkKeys returns what is wrong with keys for an extension.
func checkKeys(data []string) *Problem {
	if len(data) > MaxInputKeys {
		return &Problem{"data", fmt.Sprintf("The field data has %d keys; at most %d.", len(data), MaxInputKeys)}
	}
	size := 0
	for _, d := range data {
		size += len(d)
	}
	if size > MaxInputBytes {
		return &Problem{"data", fmt.Sprintf("The field data has %d bytes of keys; at most %d.", size, MaxInputBytes)}
	}
	return nil
}
