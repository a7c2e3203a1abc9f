package tool

import (
	"context"
	"path/filepath"
	"slices"

	"scorel/internal/engine/tool/files"
)

// ListFiles names the files of the workspace in no order, relative to it: those
// that Glob would list, which are neither hidden nor ignored, without what lies
// where keys are kept. It walks by itself, without ripgrep, so that no child runs.
// Emit is called by several goroutines and ends the walk with false. A root that is
// gone is an error; folders that cannot be read are passed over.
func ListFiles(ctx context.Context, f *files.Files, emit func(rel string) bool) error {
	s, err := openSearch(searched{files: f}, "")
	if err != nil {
		return err
	}
	defer s.root.Close()
	walk, stop := context.WithCancel(ctx)
	defer stop()
	root := f.Root()
	var keys []string // in the workspace
	for _, place := range f.Keys() {
		if files.Within(place, root) {
			keys = append(keys, place)
		}
	}
	s.walk(walk, 0, func(rel string) {
		if walk.Err() != nil {
			return
		}
		if len(keys) > 0 {
			abs := filepath.Join(root, rel)
			if slices.ContainsFunc(keys, func(place string) bool { return files.Within(abs, place) }) {
				return
			}
		}
		if !emit(rel) {
			stop()
		}
	})
	return ctx.Err()
}
