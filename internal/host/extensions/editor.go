package extensions

import (
	"context"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// editorInput answers [protocol.EditorInput]. The error is a sentence for who types.
func (x *Session) editorInput(ctx context.Context, client protocol.ClientID, r *protocol.EditorInput) (*protocol.EditorDrawn, error) {
	if x == nil || !x.set.Loaded() {
		return nil, noEditor(r.Source)
	}
	ask := rpc.Render{Place: protocol.PlaceEditorComponent, Width: r.Width, Editor: &rpc.Editor{
		Client: string(client) + " " + r.Editor, Data: r.Data, Text: r.Text, Before: r.Before, Lines: r.Lines, Cursor: r.Cursor}}
	source, drawn, err := x.set.RenderPlace(ctx, r.Source, ask)
	switch {
	case err != nil:
		return nil, err
	case source == "" || drawn.Body == nil && len(drawn.Edits) == 0:
		return nil, noEditor(r.Source)
	}
	out := &protocol.EditorDrawn{Edits: editsOf(drawn.Edits), Drawn: linesOf(drawn.Body)}
	if at := drawn.Cursor; at != nil && out.Drawn != nil && at.Row >= 0 && at.Row < len(out.Drawn.Lines) && at.Column >= 0 && at.Column <= protocol.MaxCells {
		out.Cursor = at
	}
	return out, nil
}

func noEditor(source string) error {
	return protocol.Errorf(protocol.CodeConflict, "The extension %s draws no editor now.", source)
}

// editsOf returns edits within the bounds of keys and texts.
func editsOf(edits []protocol.EditorEdit) []protocol.EditorEdit {
	edits = edits[:min(len(edits), protocol.MaxInputKeys)]
	size := 0
	for i, e := range edits {
		size += len(e.Key) + len(e.Insert)
		if e.Text != nil {
			size += len(*e.Text)
		}
		if size > protocol.MaxInputBytes {
			return edits[:i]
		}
	}
	return edits
}

// completeInput answers [protocol.CompleteInput].
func (x *Session) completeInput(ctx context.Context, r *protocol.CompleteInput) (*protocol.CompletionList, error) {
	if x == nil || !x.set.Loaded() {
		return &protocol.CompletionList{Items: []protocol.Completion{}}, nil
	}
	return x.set.CompleteInput(ctx, r.Before)
}
