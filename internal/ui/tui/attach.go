package tui

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/attachment"
	"scorel/protocol/display"
)

// attachFile takes a file into what is typed, wherever it lies: the person has named it by
// itself.
func (m *Model) attachFile(name string) tea.Cmd {
	path := strings.Trim(name, `'"`)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(filepath.Dir(m.cfg.Dir), rest)
	}
	if path == "" {
		m.fail(errors.New("say which file: /attach FILE"))
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.cfg.WorkDir, path)
	}
	return func() tea.Msg { // behind the command itself, which empties the editor
		return then(func(m *Model) tea.Cmd { return m.takeIn(path, "") })
	}
}

// takeIn puts what is in a file at the cursor, before the next key is looked at: Enter may
// be that. Media is its type, "" for what its content is.
func (m *Model) takeIn(path, media string) tea.Cmd {
	data, is, err := attachment.File(path, m.cfg.Dir)
	if media == "" {
		media = is
	}
	switch {
	case err == nil && media == "":
		err = fmt.Errorf("%s is not taken in: %w", display.Line(path), attachment.ErrType)
	case err != nil:
		err = fmt.Errorf("%s is not taken in: %w", display.Line(path), err)
	case strings.HasPrefix(media, "image/"):
		err = m.editor.AddImage(filepath.Base(path), media, data)
	default:
		err = m.editor.AddFile(filepath.Base(path), media, data)
	}
	if err != nil {
		m.fail(err)
	}
	return m.typed()
}
