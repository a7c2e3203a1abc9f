package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/memory"
	"scorel/internal/engine/model"
	"scorel/internal/engine/session/history"
	"scorel/internal/host/lane"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// maxMemoryText bounds what get_memory gives of one file, in bytes.
const maxMemoryText = 64 << 10

// notes gives the notes of the project of a folder, nil where they are switched off.
func (h *Host) notes(cfg config.Config, dir string) *memory.Store {
	if !cfg.Memory.Enabled {
		return nil
	}
	root, common := workspace.Root(dir, h.cfg.UserHome)
	return memory.New(memory.Config{FS: h.cfg.FS, Dir: filepath.Join(h.cfg.Dir, "memory"), Key: memory.Key(root, common), Resolve: canonical, Now: h.cfg.Now})
}

// noter gives what AppendDaily keeps notes with, nil where sessions are not kept
// either.
func (h *Host) noter(notes *memory.Store) func(context.Context, string) (string, error) {
	if notes == nil || h.cfg.Ephemeral || h.cfg.StoreDir != h.cfg.Dir {
		return nil
	}
	return func(_ context.Context, text string) (string, error) {
		path, err := notes.Add(memory.Daily, text, "")
		return h.homely(path), err
	}
}

// homely gives a path as people write it, with ~ for the home.
func (h *Host) homely(path string) string {
	if rest, ok := strings.CutPrefix(path, canonical(h.cfg.UserHome)+"/"); ok {
		return "~/" + rest
	}
	return path
}

// teller gives what a model is told of the notes. They are read when a turn begins,
// and again where nothing of them is told any more, as behind a compaction: what is
// noted during a turn is told in the next.
func (h *Host) teller(id protocol.SessionID, cfg config.Config, notes *memory.Store, window int) func(history.Told) []protocol.Item {
	if notes == nil {
		return nil
	}
	var files []memory.File
	var failed error
	read := false
	return func(told history.Told) []protocol.Item {
		last, known := told.Get(protocol.ItemMemory)
		if !read || !known {
			files, failed = notes.Read()
			if failed != nil && !read {
				h.report(id, failed.Error(), nil)
			}
			read = true
		}
		var before *protocol.Item
		if known {
			before = &last
		}
		if known && failed != nil { // what cannot be read is not gone
			return nil
		}
		if item, ok := memory.Item(files, before, memory.Budget(window, cfg.Memory.MaxTokens)); ok {
			return []protocol.Item{item}
		}
		return nil
	}
}

// memoryOf gives the notes that a request is about: those of a session's project, or
// of a folder's. Meta is the session's, or has the folder.
func (h *Host) memoryOf(ctx context.Context, id protocol.SessionID, workDir string) (*memory.Store, config.Config, protocol.Meta, error) {
	meta := protocol.Meta{WorkDir: workDir}
	if id != "" {
		index, _, done, err := h.view(ctx, id)
		if err != nil {
			return nil, config.Config{}, meta, err
		}
		meta = index.Meta()
		done()
	}
	dir, err := h.lookedAt(meta.WorkDir)
	if err != nil {
		return nil, config.Config{}, meta, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	cfg, err := h.loadConfig(root)
	if err != nil {
		return nil, cfg, meta, err
	}
	notes := h.notes(cfg, dir)
	if notes == nil {
		return nil, cfg, meta, protocol.Errorf(protocol.CodeInvalidRequest, "Notes are switched off: memory.enabled is false in config.toml.")
	}
	return notes, cfg, meta, nil
}

// addMemory adds a note.
func (h *Host) addMemory(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.AddMemory) error {
	notes, _, _, err := h.memoryOf(ctx, id, r.WorkDir)
	if err != nil {
		return err
	}
	request := ""
	if by.Request != "" {
		request = string(by.Client) + " " + string(by.Request)
	}
	_, err = notes.Add(memory.Scope(r.Scope), r.Text, request)
	var refused *memory.RefusedError
	switch {
	case errors.As(err, &refused):
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	case errors.Is(err, memory.ErrUnknown):
		return unknownOutcome(protocol.Errorf(protocol.CodeConflict, "%s", err))
	case err != nil:
		return storageError("keep the note", err)
	}
	return nil
}

// getMemory gives the files with notes, and how much of them is told. The files of
// the user and the project are named also where there are none yet.
func (h *Host) getMemory(ctx context.Context, id protocol.SessionID, r *protocol.GetMemory) (*protocol.MemoryView, error) {
	notes, cfg, meta, err := h.memoryOf(ctx, id, r.WorkDir)
	if err != nil {
		return nil, err
	}
	files, failed := notes.Read()
	view := &protocol.MemoryView{Files: []protocol.MemoryFile{}}
	if failed != nil {
		view.Problem = sentence(failed) + "."
	}
	for _, scope := range []memory.Scope{memory.User, memory.Project, memory.Daily} {
		found := false
		for _, f := range files {
			if f.Scope == scope {
				found = true
				text := f.Text
				if len(text) > maxMemoryText {
					text = strings.ToValidUTF8(text[:maxMemoryText], "")
				}
				view.Files = append(view.Files, protocol.MemoryFile{Scope: string(scope), Path: f.Path, Bytes: f.Size, Text: text})
			}
		}
		if !found {
			view.Files = append(view.Files, protocol.MemoryFile{Scope: string(scope), Path: notes.Path(scope)})
		}
	}
	window := 0
	if m, _, err := h.models(cfg, meta, h.cfg.Overrides); err == nil {
		window = m.Info().ContextWindow
	}
	if item, ok := memory.Item(files, nil, memory.Budget(window, cfg.Memory.MaxTokens)); ok {
		view.Tokens = model.EstimateText(item.Content)
	}
	return view, nil
}

// handleMemory registers the handlers of this file's requests.
func (h *Host) handleMemory(t handlers) {
	on(t, func(ctx context.Context, at *target, r *protocol.AddMemory) (protocol.Response, error) {
		return &protocol.Done{}, h.addMemory(ctx, at.by, at.call.SessionID, r)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.GetMemory) (protocol.Response, error) {
		return h.getMemory(ctx, at.call.SessionID, r)
	})
}
