package turnconfig

import (
	"context"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/memory"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// noter returns what AppendDaily keeps notes with, nil where sessions are not kept
// either.
func (tc *Maker) noter(notes *memory.Store) tool.Notes {
	if notes == nil || tc.settings.Ephemeral || tc.settings.StoreDir != tc.settings.Dir {
		return nil
	}
	return dailyNotes{tc, notes}
}

// dailyNotes keeps the notes of a project. It implements [tool.Notes].
type dailyNotes struct {
	tc    *Maker
	notes *memory.Store
}

// Note implements [tool.Notes].
func (d dailyNotes) Note(_ context.Context, text string) (string, error) {
	path, err := d.notes.Add(memory.Daily, text, "")
	return d.tc.homely(path), err
}

// homely returns a path as people write it, with ~ for the home.
func (tc *Maker) homely(path string) string {
	if rest, ok := strings.CutPrefix(path, settings.Canonical(tc.settings.UserHome)+"/"); ok {
		return "~/" + rest
	}
	return path
}

// teller returns what a model is told of the notes. They are read when a turn begins,
// and again where nothing of them is told any more, as after a compaction: what is
// noted during a turn is told in the next.
func (tc *Maker) teller(id protocol.SessionID, cfg config.Config, notes *memory.Store, window int) func(history.Told) []protocol.Item {
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
			if !read {
				tc.tellUnread(id, failed)
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

// tellUnread tells the people of a session which notes cannot be read, nil for none: once,
// also under later hosts, and again when it is another problem.
func (tc *Maker) tellUnread(id protocol.SessionID, failed error) {
	text := ""
	if failed != nil {
		text = strings.ReplaceAll(failure.Sentence(failed), "\n", "; ") + ". The model does not get them."
	}
	if before, known := tc.unread.Get(id); known && before == text {
		return
	}
	tc.unread.Put(id, text)
	if l := tc.sessions.Lane(id); l != nil && l.ToldAnew(context.Background(), "notes", text) && text != "" {
		tc.sessions.Notify(id, "warning", text)
	}
}
