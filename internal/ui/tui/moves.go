package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/list"
	"scorel/protocol"
	"scorel/protocol/display"
)

// compact summarises the older part of the conversation.
func (m *Model) compact(instructions string) tea.Cmd {
	if m.id == "" {
		m.toast(levelInfo, "there is nothing to compact")
		return nil
	}
	leaf := m.live().LeafID
	m.working.Other("Compacting", time.Now())
	return ask(m, m.id, &protocol.CompactSession{Instructions: instructions, ExpectedLeafID: &leaf}, func(m *Model, c *protocol.Compacted, err error) tea.Cmd {
		m.working.Other("", time.Now())
		switch {
		case err != nil:
			m.fail(err)
		case c.EventID == "":
			m.toast(levelInfo, "there is nothing to compact")
		default:
			m.toast(levelInfo, fmt.Sprintf("compacted: %s tokens are %s now", thousands(c.TokensBefore), thousands(c.TokensAfter)))
		}
		return nil
	})
}

// moved tells what came of a move, and puts text into the editor.
func (m *Model) moved(moved *protocol.Moved, text string, err error) tea.Cmd {
	if err != nil {
		m.fail(err)
		return nil
	}
	for _, s := range moved.Skipped {
		text := s.Path + " was not restored: " + s.Why
		switch {
		case s.Path == "":
			text = "a file was not restored: " + s.Why
		case s.Offered:
			text += fmt.Sprintf("; to take it back all the same: scorel sessions rewind %s %s --file %s", m.id, cmp.Or(string(moved.LeafID), "start"), s.Path)
		}
		m.toast(levelWarning, text)
	}
	if n := len(moved.Restored); n > 0 {
		m.toast(levelInfo, counted(n, "file")+" restored")
	}
	if n := len(moved.Removed); n > 0 {
		m.toast(levelInfo, counted(n, "new file")+" removed")
	}
	if text != "" && m.editor.Empty() {
		return m.editorSet(text)
	}
	return nil
}

// doubleEscape goes back in the conversation, as the setting says.
func (m *Model) doubleEscape() tea.Cmd {
	switch m.settings.DoubleEscape {
	case "tree":
		return m.openTree(false)
	case "none":
		return nil
	}
	return m.openTree(true)
}

// openFork lets the person go on from before an earlier message in a session of its own.
func (m *Model) openFork() tea.Cmd {
	return m.pickMessage("Fork before", func(m *Model, e protocol.Event) tea.Cmd {
		if e.ParentID == "" {
			return tea.Batch(m.newSession(), m.editorSet(userText(e)))
		}
		return m.copyFrom(e.ParentID, "", userText(e))
	})
}

// pickMessage lets the person pick one of their messages.
func (m *Model) pickMessage(title string, picked func(m *Model, e protocol.Event) tea.Cmd) tea.Cmd {
	if m.id == "" {
		m.toast(levelInfo, "nothing was said yet")
		return nil
	}
	found := map[string]protocol.Event{}
	p := &picker{list: list.New(list.Config{Title: title, Can: list.Filter, Loading: true, Empty: "There is no message of yours."})}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return picked(m, found[ids[0]]) }
	return tea.Batch(m.pick(p), ask(m, m.id, &protocol.GetPath{Limit: 500}, func(m *Model, page *protocol.Events, err error) tea.Cmd {
		if err != nil {
			p.list.SetProblem(err.Error())
			return nil
		}
		var items []list.Item
		for _, e := range page.Events {
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleUser {
				found[string(e.ID)] = e
				items = append(items, list.Item{ID: string(e.ID), Title: display.Line(userText(e))})
			}
		}
		p.list.SetItems(items)
		return nil
	}))
}

// userText gives the text of a message as it was typed.
func userText(e protocol.Event) string {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok {
		return ""
	}
	return display.Text(b.Message.PlainText())
}

// copyAnswer copies the last answer.
func (m *Model) copyAnswer() tea.Cmd {
	path := m.projection.Path()
	for i := len(path) - 1; i >= 0; i-- {
		if b, ok := path[i].Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleAssistant {
			if b.Message.IsCut() {
				m.fail(errCut)
				return nil
			}
			if text := b.Message.PlainText(); strings.TrimSpace(text) != "" {
				return m.copyText(display.Text(text))
			}
		}
	}
	m.toast(levelInfo, "there is no answer yet")
	return nil
}

// exportFormat is the format by the end of a file's name.
func exportFormat(name string) (string, error) {
	switch filepath.Ext(name) {
	case ".html":
		return "html", nil
	case ".md":
		return "markdown", nil
	case ".jsonl":
		return "jsonl", nil
	case ".scorel":
		return "bundle", nil
	}
	return "", fmt.Errorf("the name of the file says what is written: .html, .md, .jsonl or .scorel")
}

// export writes the session to a file that does not exist yet.
func (m *Model) export(name string) tea.Cmd {
	if m.id == "" {
		m.toast(levelInfo, "there is nothing to export yet")
		return nil
	}
	if name == "" {
		name = "scorel-" + string(m.id) + ".html"
	}
	format, err := exportFormat(name)
	if err != nil {
		m.fail(err)
		return nil
	}
	if strings.HasPrefix(name, "~/") {
		name = filepath.Join(filepath.Dir(m.cfg.Dir), name[2:])
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(m.cfg.WorkDir, name)
	}
	return ordered(m, func(ctx context.Context, l *link) (*protocol.BlobRef, error) {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s is there already; name another file", name)
		}
		if err != nil {
			return nil, err
		}
		ref, err := client.Call[*protocol.BlobRef](ctx, l.client, l.id, &protocol.ExportSession{Format: format})
		if err == nil {
			err = l.client.Fetch(ctx, l.id, ref, f)
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = os.Remove(name) // half of it helps nobody
		}
		return ref, err
	}, func(m *Model, ref *protocol.BlobRef, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		for _, n := range ref.Notices {
			m.toast(levelWarning, n)
		}
		m.toast(levelInfo, "written to "+name)
		return nil
	})
}
