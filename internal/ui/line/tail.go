package line

import (
	"io"

	"scorel/client"
	"scorel/protocol"
)

// Tailer prints what happens in a session as lines, for somebody who only watches. It is
// used by one goroutine.
type Tailer struct {
	screen screen
	view   *view
	ask    *asker
	live   protocol.Live
}

// NewTailer makes a printer of lines; title, if there is one, is the first of them.
func NewTailer(out io.Writer, title string) *Tailer {
	s := &pipeScreen{out: out}
	if title != "" {
		s.line(dimStyle, "── "+title)
	}
	return &Tailer{screen: s, view: newView(s), ask: &asker{screen: s}}
}

// Update prints an update.
func (t *Tailer) Update(u *client.Update) error {
	t.view.resync(u.Resync)
	u.Fold(&t.live, func(e protocol.Event) { t.view.event(e, &t.live) })
	if u.Fresh {
		t.view.state(&t.live)
	}
	t.ask.sync(&t.live)
	return t.screen.flush()
}
