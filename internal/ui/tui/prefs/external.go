package prefs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"scorel/internal/engine/command"
)

// MaxEdited bounds what comes back from an external editor, in bytes.
const MaxEdited = 4 << 20

// EditorCommand returns the words of the command that a person edits text with: the
// setting, else $VISUAL, else $EDITOR, else vi. Words are split as
// a shell would, with quotation marks and backslashes, and without variables: nothing
// but the program is run. Many editors of windows come back at once unless told to wait, so
// for those that are known that is added.
func EditorCommand(setting string, getenv func(string) string) ([]string, error) {
	line, from := setting, "the setting editor"
	for _, name := range [...]string{"VISUAL", "EDITOR"} {
		if strings.TrimSpace(line) == "" {
			line, from = getenv(name), "$"+name
		}
	}
	if strings.TrimSpace(line) == "" {
		return []string{"vi"}, nil
	}
	words := command.Words(line)
	if words[0] == "" || strings.IndexByte(line, 0) >= 0 {
		return nil, fmt.Errorf("%s is not a command line; set editor in tui.toml, such as \"nano\" or \"code --wait\"", from)
	}
	if wait := waitFlag(filepath.Base(words[0])); wait != "" && len(words) == 1 {
		words = append(words, wait)
	}
	return words, nil
}

// waitFlag is how an editor of windows is told to come back when the file is closed.
func waitFlag(program string) string {
	switch program {
	case "code", "code-insiders", "codium", "cursor", "windsurf", "zed", "subl", "atom":
		return "--wait"
	case "mate":
		return "-w"
	case "gvim", "mvim":
		return "-f"
	}
	return ""
}

// WriteDraft puts a text into a new file of mode 0600, in a new folder of mode 0700
// below dir ("" for the system's), whose name editors take for Markdown. Remove
// removes both, with what an editor left beside the file; it may be called twice.
func WriteDraft(dir, text string) (name string, remove func(), err error) {
	at, err := os.MkdirTemp(dir, "scorel-edit-") // 0700
	if err != nil {
		return "", nil, fmt.Errorf("there is no place for a file to edit: %w", err)
	}
	remove = func() { _ = os.RemoveAll(at) }
	name = filepath.Join(at, "message.md")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		remove()
		return "", nil, fmt.Errorf("the file to edit cannot be written: %w", err)
	}
	return name, remove, nil
}

// ReadDraft reads a file that was edited: line ends become \n, and the one at the end
// goes, which editors add. The error is a sentence; the text in the UI then stays.
func ReadDraft(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it does not wait for a pipe
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("the edited file is gone; the text stays as it was")
	}
	if err != nil {
		return "", fmt.Errorf("the edited file cannot be read, and the text stays as it was: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("what was edited is no longer a file; the text stays as it was")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxEdited+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the edited file cannot be read, and the text stays as it was: %w", err)
	case len(data) > MaxEdited:
		return "", fmt.Errorf("the edited file has more than %d MB; the text stays as it was", MaxEdited>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return "", errors.New("the edited file is not UTF-8; the text stays as it was")
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	return strings.TrimSuffix(strings.ReplaceAll(text, "\r", "\n"), "\n"), nil
}
