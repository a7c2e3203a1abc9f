package input

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/slash"
	"scorel/internal/ui/tui/complete"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// Choosing reports whether the popup under the editor is open.
func (in *Input) Choosing() bool { return in.popup.Open() }

// Dismiss closes the popup.
func (in *Input) Dismiss() { in.popup.Dismiss() }

// Forget has the popup ask the host again: it may know other commands and files now.
func (in *Input) Forget() { in.popup.Forget() }

// Popup draws the popup, no lines while it is closed.
func (in *Input) Popup(th *theme.Theme, width, height int) []string {
	return in.popup.Render(th, width, height)
}

// Choose does an action of the popup. It reports whether that has a use for it, and whether
// what is typed now is to be sent.
func (in *Input) Choose(a keymap.Action) (handled, send bool) {
	edit, handled := in.popup.Do(a)
	if edit != nil && in.editor.ReplaceBefore(edit.Old, edit.New) && edit.Send {
		return true, true
	}
	return handled, false
}

// question asks the host for what the popup wants to know.
func (in *Input) question(q *complete.Question) tea.Cmd {
	switch {
	case q == nil:
		return nil
	case q.Kind == complete.Commands:
		return in.loadCommands()
	case q.Kind == complete.Files && in.cfg.Host.Project() != nil:
		return link.Ask(in.cfg.Link, "", &protocol.ListFiles{ProjectID: in.cfg.Host.Project().ProjectID, Query: q.Query, Limit: complete.FileHits}, func(list *protocol.FileList, err error) tea.Cmd {
			if in.cfg.Session.ID() == "" {
				return in.question(in.popup.Files(q.Number, orNil(err, list)))
			}
			return in.withResources(q, orNil(err, list))
		})
	case q.Kind == complete.Words:
		return link.Ask(in.cfg.Link, in.cfg.Session.ID(), &protocol.CompleteInput{Before: q.Query}, func(list *protocol.CompletionList, err error) tea.Cmd {
			in.popup.Words(q.Number, orNil(err, list))
			return nil
		})
	case q.Kind == complete.Arguments:
		return link.Ask(in.cfg.Link, in.cfg.Session.ID(), &protocol.CompleteCommand{Name: q.Name, Args: q.Args}, func(list *protocol.CompletionList, err error) tea.Cmd {
			in.popup.Arguments(q.Number, orNil(err, list))
			return nil
		})
	}
	return nil
}

// withResources offers files, and after them the resources of the session's MCP servers.
func (in *Input) withResources(q *complete.Question, files *protocol.FileList) tea.Cmd {
	return link.Ask(in.cfg.Link, in.cfg.Session.ID(), &protocol.ListMCPResources{Query: q.Query, Limit: complete.FileHits}, func(list *protocol.MCPResourceList, err error) tea.Cmd {
		if err == nil && len(list.Resources) > 0 {
			if files == nil {
				files = &protocol.FileList{}
			}
			for _, r := range list.Resources {
				files.Files = append(files.Files, r.Server+":"+r.URI)
			}
		}
		return in.question(in.popup.Files(q.Number, files))
	})
}

// loadCommands asks for the commands of the host.
func (in *Input) loadCommands() tea.Cmd {
	req := &protocol.ListCommands{}
	if in.cfg.Session.ID() == "" {
		req.WorkDir = in.cfg.WorkDir
	}
	return link.Ask(in.cfg.Link, in.cfg.Session.ID(), req, func(list *protocol.CommandList, err error) tea.Cmd {
		if err == nil {
			list.Commands = slash.Beside(slash.Screen, list.Commands)
		}
		return in.question(in.popup.Commands(orNil(err, list)))
	})
}

// orNil returns a value, or nil where there is an error.
func orNil[T any](err error, value *T) *T {
	if err != nil {
		return nil
	}
	return value
}
