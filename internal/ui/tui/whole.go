package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/cell"
	"scorel/protocol"
)

// maxWhole bounds what the pager has of a payload, in bytes.
const maxWhole = 2 << 20

// errCut says why something is not copied: what is here is not all of it.
var errCut = errors.New("this is longer than the clipboard of a terminal takes, and not all of it is here; /export writes it to a file")

// openWhole shows a payload with all of an item of which the conversation has a part.
func (m *Model) openWhole(blob string) tea.Cmd {
	l, ctx, id := m.link, m.ctx, m.id
	return func() tea.Msg {
		text, err := l.beginning(ctx, id, blob)
		return then(func(m *Model) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.page("All of it", strings.Split(cell.Clean(text), "\n"))
			return nil
		})
	}
}

// beginning fetches the first [maxWhole] bytes of a payload that is text, and says how
// much follows. Anybody may call it.
func (l *link) beginning(ctx context.Context, session protocol.SessionID, blob string) (string, error) {
	c, err := l.host(ctx)
	if err != nil {
		return "", err
	}
	head, err := client.Call[*protocol.BlobPart](ctx, c, session, &protocol.GetBlob{SHA256: blob})
	if err != nil {
		return "", err
	}
	size := head.Size
	var data bytes.Buffer
	if err := c.Fetch(ctx, session, &protocol.BlobRef{SHA256: blob, Size: min(size, maxWhole)}, &data); err != nil {
		return "", err
	}
	left := size - int64(data.Len())
	text := strings.ToValidUTF8(data.String(), "\uFFFD")
	if left > 0 {
		text = fmt.Sprintf("%s\n… %d bytes more; /export writes answers whole to a file", text, left)
	}
	return text, nil
}
