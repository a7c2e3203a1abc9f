package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/panel"
	"scorel/protocol"
)

// shortcutTimeout is how long the editor waits for the host to name the shortcuts of extensions,
// once a key was pressed that may be one; then it takes the keys as they are. It is a variable
// for tests.
var shortcutTimeout = time.Second

// maxHeld bounds the keys that wait meanwhile.
const maxHeld = 256

// shortcuts are the keys of extensions. The host names them among the commands of the session.
// It starts the extensions for that, so it is asked when a turn has ended, or when a key is
// pressed that means nothing else; that key and those after it wait for the answer.
type shortcuts struct {
	*Model
	of   protocol.SessionID
	keys map[string]string // by the key: the name of its command; nil while they are not known
	ask  *int              // the question that is open; nil for none
	held []pressed         // keys that wait for the answer

	wrong []protocol.DoctorCheck // shortcuts that do not count, each with the reason
	told  string                 // the texts of wrong, as they were said last
}

// known reports whether the shortcuts of the session that is shown are known.
func (s *shortcuts) known() bool { return s.keys != nil && s.of == s.session.ID() }

// forget has the host asked again: there may be others now.
func (s *shortcuts) forget() { s.keys = nil }

// free reports whether a key of the editor means nothing there, so that it may be a shortcut.
func (s *shortcuts) free(k tea.KeyPressMsg, name string) bool {
	if s.session.Over() || k.Text != "" && k.Mod&^tea.ModShift == 0 || s.prefs.keys.Pending() != "" {
		return false
	}
	return s.prefs.keys.Map.Taken(name, keymap.Editor, keymap.Global) == ""
}

// takes takes a key or a paste of the editor when that is a shortcut, or waits for one that may
// be. cmd is what becomes of it then.
func (s *shortcuts) takes(p pressed, name string) (cmd tea.Cmd, took bool) {
	if len(s.held) > 0 {
		if len(s.held) < maxHeld && !s.focus.over(name) {
			s.held = append(s.held, p)
			return nil, true
		}
		return s.release(), false
	}
	if p.paste != nil || !s.free(p.key, name) {
		return nil, false
	}
	if s.known() {
		return s.run(name)
	}
	if s.ask != nil { // it was waited for long enough
		return nil, false
	}
	s.held = []pressed{p}
	ask, send := s.load(true)
	time.AfterFunc(shortcutTimeout, func() {
		s.send(loop.Then(func() tea.Cmd {
			if s.ask == ask && len(s.held) > 0 {
				// The key means nothing else: it would be typed, or taken for Esc and a letter.
				s.toasts.Info("extensions are still starting; press " + keyName(s.held[0].key) + " again when they have")
				s.held = s.held[1:]
				return s.replay()
			}
			return nil
		}))
	})
	return send, true
}

// run runs the shortcut of a key, if there is one.
func (s *shortcuts) run(name string) (cmd tea.Cmd, ran bool) {
	command, ok := s.keys[name]
	if !ok {
		return nil, false
	}
	return s.input.Press(command), true
}

// release has what has the focus take the keys that have waited. The first is the one that was
// asked for.
func (s *shortcuts) release() tea.Cmd {
	if len(s.held) == 0 {
		return nil
	}
	first := s.held[0]
	s.held = s.held[1:]
	cmd, ran := tea.Cmd(nil), false
	if s.known() && s.focus.onEditor() {
		cmd, ran = s.run(keyName(first.key))
	}
	if !ran {
		cmd = s.focus.pass(first.key)
	}
	return tea.Batch(cmd, s.replay())
}

// replay has what has the focus take keys that have waited behind another.
func (s *shortcuts) replay() tea.Cmd {
	held := s.held
	s.held = nil
	var cmds []tea.Cmd
	for _, p := range held {
		if p.paste != nil {
			cmds = append(cmds, s.focus.paste(*p.paste))
		} else {
			cmds = append(cmds, s.focus.key(p.key))
		}
	}
	return tea.Batch(cmds...)
}

// refresh asks for the shortcuts of a session whose extensions have started, while they are not
// known.
func (s *shortcuts) refresh() tea.Cmd {
	if s.known() || s.ask != nil || s.session.Over() || s.session.ID() == "" {
		return nil
	}
	_, cmd := s.load(false)
	return cmd
}

// load asks the host. A session is made for that where there is none yet but extensions are, and
// a person has pressed a key.
func (s *shortcuts) load(pressed bool) (ask *int, cmd tea.Cmd) {
	ask = new(int)
	s.ask = ask
	if s.session.ID() != "" || !pressed {
		return ask, link.Ask(s.link, s.session.ID(), &protocol.ListCommands{}, func(list *protocol.CommandList, err error) tea.Cmd { return s.answered(ask, s.session.ID(), list, err) })
	}
	return ask, link.Ask(s.link, "", &protocol.ListExtensions{WorkDir: s.cfg.WorkDir}, func(found *protocol.ExtensionList, err error) tea.Cmd {
		if err != nil || !enabled(found) {
			return s.answered(ask, s.session.ID(), &protocol.CommandList{}, err)
		}
		type answer struct {
			of   protocol.SessionID
			list *protocol.CommandList
		}
		return link.Ordered(s.link, func(ctx context.Context, to link.Target) (answer, error) {
			list, err := client.Call[*protocol.CommandList](ctx, to.Client, to.Session, &protocol.ListCommands{})
			return answer{to.Session, list}, err
		}, func(a answer, err error) tea.Cmd { return s.answered(ask, a.of, a.list, err) })
	})
}

// enabled reports whether there is an extension that may be started.
func enabled(found *protocol.ExtensionList) bool {
	for _, x := range found.Extensions {
		if x.State != protocol.ExtensionDisabled && x.State != protocol.ExtensionUntrusted {
			return true
		}
	}
	return false
}

// answered takes what the host says.
func (s *shortcuts) answered(ask *int, of protocol.SessionID, list *protocol.CommandList, err error) tea.Cmd {
	if s.ask != ask {
		return nil
	}
	s.ask = nil
	if err == nil && of == s.session.ID() {
		s.take(of, list.Commands)
	}
	return s.release()
}

// take takes the shortcuts among the commands of a session, and says which of them do not count.
func (s *shortcuts) take(of protocol.SessionID, commands []protocol.CommandInfo) {
	s.of, s.keys = of, map[string]string{}
	s.wrong = nil
	for _, k := range panel.Shortcuts(s.prefs.keys.Map, commands) {
		if k.Why == "" {
			s.keys[k.Key] = k.Command.Name
			continue
		}
		s.wrong = append(s.wrong, protocol.DoctorCheck{ID: "ui-shortcuts", State: "warn", Text: k.Text + " of the extension " + k.Command.Origin + " " + k.Why, Advice: "Type /" + k.Command.Name + " to run it."})
	}
	s.tell()
}

// tell says that shortcuts do not count, once. /doctor lists them.
func (s *shortcuts) tell() {
	var texts []string
	for _, w := range s.wrong {
		texts = append(texts, w.Text)
	}
	all := strings.Join(texts, "\n")
	if all == s.told {
		return
	}
	s.told = all
	switch len(s.wrong) {
	case 0:
	case 1:
		s.toasts.Warn("A shortcut does not count: " + s.wrong[0].Text + ". " + s.wrong[0].Advice)
	default:
		s.toasts.Warn(fmt.Sprintf("%d shortcuts of extensions do not count; /doctor says why", len(s.wrong)))
	}
}
