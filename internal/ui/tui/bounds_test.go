package tui

import (
	"context"
	"strconv"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/platform/disk/disktest"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
)

func TestRequestsAndWhatCouldNotBeSentAreBounded(t *testing.T) {
	m := &Model{link: newLink(&Config{}, func(tea.Msg) {}), projection: client.NewProjection(), editor: editor.New(editor.Config{}),
		history: prefs.NewHistory(disktest.NewMem(), "/h", "/p", time.Now)}
	refused := 0
	for range 10 * maxJobs {
		ordered(m, func(context.Context, *link) (*protocol.Done, error) { return nil, nil },
			func(_ *Model, _ *protocol.Done, err error) tea.Cmd {
				if err != nil {
					refused++
				}
				return nil
			})
	}
	if len(m.link.jobs) != maxJobs || refused != 9*maxJobs {
		t.Errorf("%d wait, %d were refused", len(m.link.jobs), refused)
	}
	if err := m.editor.Insert("what is typed now"); err != nil {
		t.Fatal(err)
	}
	for i := range 10 * maxUnsent {
		m.giveBack("text "+strconv.Itoa(i), "text "+strconv.Itoa(i))
	}
	if n := len(m.unsent); n != maxUnsent || m.unsent[n-1] != "text "+strconv.Itoa(10*maxUnsent-1) {
		t.Errorf("%d are kept", n)
	}
	if m.editor.Text() != "what is typed now" {
		t.Errorf("the editor has %q", m.editor.Text())
	}
	if past := m.history.Entries(); len(past) != 10*maxUnsent {
		t.Errorf("the history has %d", len(past))
	}
}
