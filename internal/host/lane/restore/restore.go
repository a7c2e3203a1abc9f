package restore

import (
	"context"
	"slices"

	"scorel/internal/engine/session"
	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

// Restorer takes files of a session back.
type Restorer struct {
	Index *session.Index
	Blobs *session.Blobs
	Files Files
	Meta  protocol.Meta
}

// Files opens the folders of a session.
type Files interface {
	OpenFiles(meta protocol.Meta) (*files.Files, error)
}

// Want is which files are to be restored: all that were written, or some of them, also
// when somebody has changed them since.
type Want struct {
	All   bool
	Files []string
}

// Any reports whether files are to be restored.
func (w Want) Any() bool { return w.All || len(w.Files) > 0 }

// Restore takes the files back to what they were when the path from's part after to
// began. Those that a person changed since, or between two writes of the agent, are listed
// and left alone unless want names them. As long as nothing was said since, files of what an
// earlier move left are taken back, too: those that want names, and all where this move
// leaves nothing, since the restoring of that one may have been cut off.
func (r Restorer) Restore(ctx context.Context, from, to protocol.EventID, want Want, moved *protocol.Moved) error {
	left, err := r.abandoned(ctx, from, to)
	if err != nil {
		return err
	}
	list := left.paths
	if !want.All {
		list = slices.DeleteFunc(slices.Clone(list), func(p string) bool { return !slices.Contains(want.Files, p) })
	} else {
		moved.Skipped = append(moved.Skipped, left.unknown...)
	}
	if err := r.restoreFiles(ctx, left, list, want.Files, moved); err != nil {
		return err
	}
	seen := left.paths
	all := want.All && from == to
	for move, err := range r.Index.MovesSinceConversation(ctx) {
		if err != nil {
			return err
		}
		if !all && !slices.ContainsFunc(want.Files, func(p string) bool { return !slices.Contains(seen, p) }) {
			break
		}
		left, err := r.abandoned(ctx, move.ParentID, to)
		if err != nil {
			return err
		}
		list := slices.DeleteFunc(slices.Clone(left.paths), func(p string) bool {
			return slices.Contains(seen, p) || !all && !slices.Contains(want.Files, p)
		})
		if all {
			moved.Skipped = append(moved.Skipped, left.unknown...)
		}
		if err := r.restoreFiles(ctx, left, list, want.Files, moved); err != nil {
			return err
		}
		seen = append(seen[:len(seen):len(seen)], list...)
	}
	for _, p := range slices.DeleteFunc(slices.Clone(want.Files), func(p string) bool { return slices.Contains(seen, p) }) {
		moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: p, Why: "what was left has not written it"})
	}
	return nil
}

// restoreFiles takes back the files of a list.
func (r Restorer) restoreFiles(ctx context.Context, left *abandonedFiles, list, named []string, moved *protocol.Moved) error {
	if len(list) == 0 {
		return nil
	}
	opened, err := r.Files.OpenFiles(r.Meta)
	if err != nil {
		return err
	}
	defer opened.Close()
	var items []files.RestoreItem
	for _, path := range list {
		item, why := left.files[path].item(path)
		if why != "" {
			moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: path, Why: why})
			continue
		}
		item.Named = slices.Contains(named, path)
		item.Content = func(ctx context.Context, limit int64) ([]byte, error) {
			return r.Blobs.Read(ctx, item.SHA256, limit)
		}
		items = append(items, item)
	}
	done := files.Restore(ctx, opened, items)
	moved.Restored = append(moved.Restored, done.Restored...)
	moved.Removed = append(moved.Removed, done.Removed...)
	for _, s := range done.Skipped {
		moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: s.Path, Why: s.Why, Offered: s.Offered})
	}
	return nil
}
