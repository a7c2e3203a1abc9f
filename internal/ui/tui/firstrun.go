package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/cli/demoproject"
	"scorel/internal/ui/tui/list"
	"scorel/protocol"
)

// What the demo is: its model, its folder in the one where the UI runs, and its task.
const (
	demoModel  = "demo"
	demoFolder = "scorel-demo"
	demoTask   = "A check of this project fails. Find out which, repair the fault, and show that every check passes."
)

// firstRun helps somebody who has no model that can be called yet to one, or into the
// demo: pick a provider, enter its key, pick a model.
func (m *Model) firstRun() tea.Cmd {
	if m.offered || m.cfg.Start.Model != "" || !m.editor.Empty() || m.overlay() != nil || m.live().Meta.Model != "" || m.models == nil || m.config == nil || m.setting("model.name") != "" || m.callable() {
		return nil
	}
	m.offered = true
	items := []list.Item{
		{ID: "login", Title: "Enter a key", Detail: "of Anthropic, OpenAI, Google, OpenRouter or another provider"},
		{ID: "own", Title: "Use a server of my own", Detail: "Ollama, llama.cpp, vLLM: how to describe it in config.toml"},
	}
	if m.cfg.WorkDir != "" {
		items = append(items, list.Item{ID: "demo", Title: "Look at the demo first", Detail: "no key, no network: an agent repairs a small project in ./" + demoFolder})
	}
	p := &picker{list: list.New(list.Config{Title: "No model can be called yet. How do you want to begin?", Items: items})}
	p.onType = func(m *Model, text string) tea.Cmd {
		m.closeOverlay(p)
		return m.insert(onEditor, text)
	}
	p.onPaste = func(m *Model, text string) tea.Cmd {
		m.closeOverlay(p)
		return m.paste(text)
	}
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		switch ids[0] {
		case "login":
			return m.openLogin("")
		case "demo":
			return m.openDemo()
		}
		m.ownServer()
		return nil
	}
	return m.pick(p)
}

// ownServer says how a server of one's own becomes a model.
func (m *Model) ownServer() {
	m.page("A server of your own", []string{
		"Put this into " + filepath.Join(m.cfg.Dir, "config.toml") + ", with the address and the model of your server:",
		"",
		"  [model]",
		`  name = "local"`,
		"",
		"  [models.local]",
		`  type = "custom"`,
		`  api = "openai-completions"`,
		`  baseUrl = "http://127.0.0.1:11434/v1"`,
		`  id = "qwen3:14b"`,
		"  contextWindow = 32000",
		"",
		"That address is Ollama's; llama.cpp has port 8080, vLLM 8000. Then /model picks it.",
	})
}

// openDemo makes the demo's project, or takes the one that is there, and opens a session
// in it; its task stands in the editor, to be sent.
func (m *Model) openDemo() tea.Cmd {
	dir := filepath.Join(m.cfg.WorkDir, demoFolder)
	ok := m.link.do(func(ctx context.Context, l *link) then {
		err := l.demo(ctx, dir)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.toast(levelInfo, "a small project with a fault is in ./"+demoFolder+"; Enter sends the task, and what it wants to run is asked for")
			if !m.editor.Empty() {
				return nil // somebody has typed meanwhile
			}
			return m.editorSet(demoTask)
		}
	})
	if !ok {
		m.toast(levelWarning, "too many requests wait; try again when the host has answered")
	}
	return nil
}

// demo opens a new session with the demo model in a folder, which it makes a demo
// project.
func (l *link) demo(ctx context.Context, dir string) error {
	if l.err != nil {
		return l.err
	}
	state, err := demoproject.Look(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s cannot be used: %w", dir, err)
	case state == demoproject.Other:
		return errors.New(dir + " is no demo project; move it away, or run scorel in another folder")
	case state == demoproject.Free:
		if err := demoproject.Write(dir); err != nil {
			return err
		}
	}
	project, err := client.Call[*protocol.Project](ctx, l.client, "", &protocol.RegisterProject{WorkDir: dir})
	if err != nil {
		return err
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	req := &protocol.CreateSession{ProjectID: project.ProjectID, Meta: protocol.Meta{WorkDir: dir, Model: demoModel}}
	if _, err := client.Call[*protocol.SessionSummary](ctx, l.client, id, req); err != nil {
		return err
	}
	return l.open(ctx, id, true)
}
