package transfer

import (
	"context"
	"fmt"
	"io"
	"iter"

	"scorel/internal/engine/export"
	"scorel/internal/engine/session"
	"scorel/protocol"
)

// exportHTML writes a session as a page, and notes which payloads it lacks.
func (ts *Transfers) exportHTML(ctx context.Context, w io.Writer, v *session.View, lost *session.Lost) error {
	index := v.Index()
	path, err := index.Path(index.Leaf())
	if err != nil {
		return err
	}
	src := export.Source{Header: index.Header(), Path: path, All: func() iter.Seq2[protocol.Event, error] { return index.EventsAfter(ctx, 0) },
		Blob: func(sha string) (io.ReadCloser, int64, error) {
			r, size, err := ts.store.Blobs().Whole(ctx, sha)
			lost.Add(sha, err)
			return r, size, err
		}, Whole: ts.CutText(ctx, lost)}
	src.Header.Meta = index.Meta()
	if n := len(index.Gaps()); n > 0 {
		src.Notices = append(src.Notices, fmt.Sprintf("The log of this session is damaged in %d places; events are missing there.", n))
	}
	return export.HTML(ctx, w, src)
}
