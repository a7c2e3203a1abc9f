package input

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/sandbox"
	"scorel/internal/ui/attachment"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/program"
	"scorel/protocol/display"
)

const (
	// clipboardTimeout is how long a program that reads the clipboard may take.
	clipboardTimeout = 5 * time.Second
	// maxDropped bounds an image whose file was dropped onto the terminal, in bytes.
	maxDropped = editor.MaxAttachment
)

// Add takes a file into what is typed, wherever it lies: the person has named it by
// itself.
func (in *Input) Add(name string) tea.Cmd {
	path := strings.Trim(name, `'"`)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(filepath.Dir(in.cfg.Dir), rest)
	}
	if path == "" {
		in.cfg.Toasts.Fail(errors.New("name a file: /add FILE"))
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.cfg.WorkDir, path)
	}
	return func() tea.Msg { // after the command itself, which empties the editor
		return loop.Then(func() tea.Cmd { return in.takeIn(path, "") })
	}
}

// takeIn puts what is in a file at the cursor, before the next key is looked at: Enter may
// be that. Media is its type, "" for what its content is.
func (in *Input) takeIn(path, media string) tea.Cmd {
	data, is, err := attachment.File(path, in.cfg.Dir)
	if media == "" {
		media = is
	}
	switch {
	case err == nil && media == "":
		err = fmt.Errorf("%s was not attached: %w", display.Line(path), attachment.ErrType)
	case err != nil:
		err = fmt.Errorf("%s was not attached: %w", display.Line(path), err)
	case strings.HasPrefix(media, "image/"):
		err = in.editor.AddImage(filepath.Base(path), media, data)
	default:
		err = in.editor.AddFile(filepath.Base(path), media, data)
	}
	if err != nil {
		in.cfg.Toasts.Fail(err)
	}
	return in.Changed()
}

// dropped takes the path of an image that a terminal pasted for a file that was dropped
// onto it.
func (in *Input) dropped(text string) (tea.Cmd, bool) {
	path := strings.Trim(strings.TrimSpace(text), `'"`)
	path = strings.ReplaceAll(strings.TrimPrefix(path, "file://"), `\ `, " ")
	media := imageType(path)
	if media == "" || strings.Contains(path, "\n") || !filepath.IsAbs(path) || in.cfg.Remote {
		return nil, false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDropped {
		return nil, false
	}
	return in.takeIn(path, media), true
}

func imageType(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	}
	return ""
}

// clipboards are the programs that read an image from the clipboard.
var clipboards = [...][]string{{"wl-paste", "--no-newline", "--type", "image/png"}, {"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}, {"pngpaste", "-"}}

// PasteImage takes an image from the clipboard, where a program for that is there. ctx ends
// with the UI.
func (in *Input) PasteImage(ctx context.Context) tea.Cmd {
	if in.cfg.Remote || in.cfg.Environ.Get("SSH_TTY") != "" {
		in.cfg.Toasts.Info("the clipboard's images are on the machine of the terminal; save one to a file there and name it with @")
		return nil
	}
	return func() tea.Msg {
		data := in.clipboard(ctx)
		return loop.Then(func() tea.Cmd {
			if len(data) == 0 {
				in.cfg.Toasts.Info("there is no image in the clipboard, or no program to read it (wl-paste, xclip or pngpaste)")
				return nil
			}
			if err := in.editor.AddImage("clipboard.png", "image/png", data); err != nil {
				in.cfg.Toasts.Fail(err)
			}
			return in.Changed()
		})
	}
}

// clipboard returns the image that is in the clipboard, empty for none. Any goroutine may
// call it.
func (in *Input) clipboard(ctx context.Context) []byte {
	for _, argv := range clipboards {
		ctx, cancel := context.WithTimeout(ctx, clipboardTimeout)
		out, err := program.Output(ctx, sandbox.Helper{Path: argv[0], Args: argv[1:], Env: in.cfg.Environ, Dir: os.TempDir()}, nil, maxDropped+1)
		cancel()
		if err == nil && len(out) > 0 {
			return out
		}
	}
	return nil
}
