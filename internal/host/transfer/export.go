package transfer

import (
	"bufio"
	"context"
	"errors"

	"scorel/internal/engine/session"
	"scorel/internal/host/failure"
	"scorel/internal/host/registry"
	"scorel/protocol"
	"scorel/protocol/display"
)

// exportSession writes a session into a file that is kept for the client, see [transfers].
func (ts *Transfers) exportSession(ctx context.Context, client protocol.ClientID, id protocol.SessionID, format string) (*protocol.BlobRef, error) {
	v, report, err := ts.store.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = v.Close() }()
	out, err := ts.NewSpool()
	if err != nil {
		return nil, failure.Storage("write the export", err)
	}
	w := bufio.NewWriterSize(out, exportBuffer)
	var lost session.Lost
	switch format {
	case "jsonl":
		err = session.ExportJSONL(ctx, w, v)
	case "bundle":
		lost, err = ts.store.ExportBundle(ctx, w, v)
	case "html":
		err = ts.exportHTML(ctx, w, v, &lost)
	default:
		header := v.Index().Header()
		header.Meta = v.Index().Meta()
		err = display.Markdown(w, header, ts.forward(ctx, v.Index(), &lost))
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		out.Discard()
	}
	if errors.Is(err, session.ErrTooLarge) {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "The session is too large for one bundle of 2 GiB; copy its .jsonl and the blobs folder, and import those.")
	}
	if err != nil {
		return nil, err
	}
	ref, err := out.Keep(client, true)
	if err != nil {
		return nil, err
	}
	found, err := registry.Lost(ctx, v.Index(), report)
	if err != nil {
		return nil, err
	}
	ref.Notices = append(found, lostNotices(lost)...)
	return ref, nil
}

// exportBuffer is how much of an export is written at once, in bytes.
const exportBuffer = 256 << 10

// maxWhole bounds what an export has of a text that the log has cut, in bytes.
const maxWhole = 16 << 20

// forward returns the conversation events of the active path, oldest first, with the whole
// of what the log has cut, and notes which of that is lost.
func (ts *Transfers) forward(ctx context.Context, index *session.Index, lost *session.Lost) func(func(protocol.Event, error) bool) {
	return func(yield func(protocol.Event, error) bool) {
		path, err := index.Path(index.Leaf())
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		for _, id := range path {
			e, err := index.Event(ctx, id)
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.IsCut() {
				m, _ := b.Message.Whole(ts.CutText(ctx, lost)) // what is lost stays cut and says so
				e.Body = &protocol.MessageBody{Message: m}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// CutText reads the whole of a text that the log has cut.
func (ts *Transfers) CutText(ctx context.Context, lost *session.Lost) func(sha string) ([]byte, error) {
	return func(sha string) ([]byte, error) {
		data, err := ts.store.Blobs().Read(ctx, sha, maxWhole)
		lost.Add(sha, err)
		return data, err
	}
}
