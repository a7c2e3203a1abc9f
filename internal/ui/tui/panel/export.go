package panel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/link"
	"scorel/protocol"
)

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

// Export writes the session to a file that does not exist yet.
func (x *Sessions) Export(name string) tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Info("there is nothing to export yet")
		return nil
	}
	if name == "" {
		name = "scorel-" + string(x.Session.ID()) + ".html"
	}
	format, err := exportFormat(name)
	if err != nil {
		x.Toasts.Fail(err)
		return nil
	}
	if strings.HasPrefix(name, "~/") {
		name = filepath.Join(filepath.Dir(x.Dir), name[2:])
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(x.WorkDir, name)
	}
	return link.Ordered(x.Link, func(ctx context.Context, to link.Target) (*protocol.BlobRef, error) {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s is there already; name another file", name)
		}
		if err != nil {
			return nil, err
		}
		ref, err := client.Call[*protocol.BlobRef](ctx, to.Client, to.Session, &protocol.ExportSession{Format: format})
		if err == nil {
			err = to.Client.Fetch(ctx, to.Session, ref, f)
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = os.Remove(name) // half of it helps nobody
		}
		return ref, err
	}, func(ref *protocol.BlobRef, err error) tea.Cmd {
		if err != nil {
			x.Toasts.Fail(err)
			return nil
		}
		for _, n := range ref.Notices {
			x.Toasts.Warn(n)
		}
		x.Toasts.Info("written to " + name)
		return nil
	})
}
