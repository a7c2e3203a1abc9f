package notes

import (
	"context"
	"errors"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/memory"
	"scorel/internal/engine/model"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// maxMemoryText bounds what get_memory gives of one file, in bytes.
const maxMemoryText = 64 << 10

// memoryOf returns the notes that a request is about: those of a session's project, or
// of a folder's. Meta is the session's, or has the folder.
func (n *Notes) memoryOf(ctx context.Context, id protocol.SessionID, workDir string) (*memory.Store, config.Config, protocol.Meta, error) {
	meta := protocol.Meta{WorkDir: workDir}
	if id != "" {
		index, _, done, err := n.views.View(ctx, id)
		if err != nil {
			return nil, config.Config{}, meta, err
		}
		meta = index.Meta()
		done()
	}
	dir, err := n.settings.LookedAt(meta.WorkDir)
	if err != nil {
		return nil, config.Config{}, meta, err
	}
	root, _ := workspace.Root(dir, n.settings.UserHome)
	cfg, err := n.settings.Load(root)
	if err != nil {
		return nil, cfg, meta, err
	}
	notes := n.settings.Notes(cfg, dir)
	if notes == nil {
		return nil, cfg, meta, protocol.Errorf(protocol.CodeInvalidRequest, "Notes are switched off: memory.enabled is false in config.toml.")
	}
	return notes, cfg, meta, nil
}

// AddMemory adds a note.
func (n *Notes) AddMemory(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.AddMemory) error {
	notes, _, _, err := n.memoryOf(ctx, id, r.WorkDir)
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
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	case errors.Is(err, memory.ErrUnknown):
		return failure.UnknownOutcome(protocol.Errorf(protocol.CodeConflict, "%s", err))
	case err != nil:
		return failure.Storage("keep the note", err)
	}
	return nil
}

// GetMemory returns the files with notes, and how much of them is told. The files of
// the user and the project are named also where there are none yet.
func (n *Notes) GetMemory(ctx context.Context, id protocol.SessionID, r *protocol.GetMemory) (*protocol.MemoryView, error) {
	notes, cfg, meta, err := n.memoryOf(ctx, id, r.WorkDir)
	if err != nil {
		return nil, err
	}
	files, failed := notes.Read()
	view := &protocol.MemoryView{Files: []protocol.MemoryFile{}}
	if failed != nil {
		view.Problem = failure.Sentence(failed) + "."
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
	if m, _, err := n.settings.Models(cfg, meta, n.settings.Overrides); err == nil {
		window = m.Info().ContextWindow
	}
	if item, ok := memory.Item(files, nil, memory.Budget(window, cfg.Memory.MaxTokens)); ok {
		view.Tokens = model.EstimateText(item.Content)
	}
	return view, nil
}

// Handle enters the handlers of this file's requests.
func (n *Notes) Handle(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.AddMemory) (protocol.Response, error) {
		return &protocol.Done{}, n.AddMemory(ctx, at.By, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.GetMemory) (protocol.Response, error) {
		return n.GetMemory(ctx, at.Call.SessionID, r)
	})
}
