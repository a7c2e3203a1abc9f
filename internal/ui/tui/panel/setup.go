package panel

import (
	"errors"
	"fmt"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/cli/demoproject"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
)

// Keys are where text goes that is no answer.
type Keys interface {
	Draft(text string) tea.Cmd // that was typed
	Paste(text string) tea.Cmd // that was pasted
}

// Setup helps somebody who has no model that can be called yet.
type Setup struct {
	Base
	info    *hostinfo.Info
	editor  Editor
	keys    Keys
	login   *Login
	chosen  bool // the command line names a model
	offered bool // once is enough
	decided bool // which session is shown first, if any
}

// NewSetup returns the first run. Chosen says that the command line names a model.
func NewSetup(b Base, info *hostinfo.Info, e Editor, k Keys, l *Login, chosen bool) *Setup {
	x := &Setup{Base: b, info: info, editor: e, keys: k, login: l, chosen: chosen}
	l.left = x.again
	return x
}

// What the demo is: its model, its folder in the one where the UI runs, and its task.
const (
	demoModel  = "demo"
	demoFolder = "scorel-demo"
	demoTask   = "A check of this project fails. Find out which, repair the fault, and show that every check passes."
)

// Decide notes that it is known which session is shown first, if any: one that there is may
// have a model.
func (x *Setup) Decide() tea.Cmd {
	x.decided = true
	return x.Offer()
}

// Offer helps somebody who has no model that can be called yet to one, or into the
// demo: pick a provider, enter its key, pick a model.
func (x *Setup) Offer() tea.Cmd {
	if x.offered || !x.editor.Empty() || x.Overlays.Top() != nil || !x.lacking() {
		return nil
	}
	x.offered = true
	return x.begin()
}

// again offers the ways to start after a form was left, while no model is set up.
func (x *Setup) again() tea.Cmd {
	if !x.lacking() {
		return nil
	}
	return x.begin()
}

// lacking reports whether it is known that no model is set up.
func (x *Setup) lacking() bool {
	if !x.decided || x.Session.ID() != "" && x.Session.Live().StreamEpoch == "" { // nothing of its state has come
		return false
	}
	return !x.chosen && !x.info.HasModel() && x.info.Models() != nil && x.info.Config() != nil && x.info.Setting("model.name") == "" && !x.info.Callable()
}

// begin offers the ways to start.
func (x *Setup) begin() tea.Cmd {
	items := []list.Item{
		{ID: "login", Title: "Enter an API key", Detail: "of Anthropic, OpenAI, Google, OpenRouter or another provider"},
		{ID: "own", Title: "Use a local server", Detail: "Ollama, llama.cpp, LM Studio, vLLM, or another address"},
	}
	if x.WorkDir != "" {
		items = append(items, list.Item{ID: "demo", Title: "Try the demo first", Detail: "no key, no network: an agent repairs a small project in ./" + demoFolder})
	}
	p := &overlay.Picker{List: list.New(list.Config{Title: "No model is set up yet. How would you like to start?", Items: items})}
	p.OnType = func(text string) tea.Cmd {
		p.Close()
		return x.keys.Draft(text)
	}
	p.OnPaste = func(text string) tea.Cmd {
		p.Close()
		return x.keys.Paste(text)
	}
	p.OnPick = func(ids []string) tea.Cmd {
		switch ids[0] {
		case "login":
			return x.login.Pick(x.begin)
		case "demo":
			return x.demo()
		}
		return x.login.endpoint.Local(x.begin)
	}
	return x.Overlays.Pick(p)
}

// demo makes the demo's project, or takes the one that is there, and opens a session in
// it; its task is in the editor, to be sent.
func (x *Setup) demo() tea.Cmd {
	dir := filepath.Join(x.WorkDir, demoFolder)
	ok := x.Link.Begin(dir, demoModel, func() error { return prepareDemo(dir) }, func(err error) tea.Cmd {
		if err != nil {
			x.Toasts.Fail(err)
			return nil
		}
		x.Toasts.Info("a small project with a fault is in ./" + demoFolder + "; " + x.Overlays.Keys().Name(keymap.Submit) + " sends the task, and you will be asked before anything runs")
		if !x.editor.Empty() {
			return nil // somebody has typed meanwhile
		}
		return x.editor.Set(demoTask)
	})
	if !ok {
		x.Toasts.Warn(busy)
	}
	return nil
}

// prepareDemo makes a folder a demo project. Any goroutine may call it.
func prepareDemo(dir string) error {
	state, err := demoproject.Look(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s cannot be used: %w", dir, err)
	case state == demoproject.Other:
		return errors.New(dir + " is not a demo project; move it away, or run scorel in another folder")
	case state == demoproject.Free:
		return demoproject.Write(dir)
	}
	return nil
}
