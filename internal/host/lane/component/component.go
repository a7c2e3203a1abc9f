package component

import (
	"fmt"
	"sync"
	"time"

	"scorel/internal/text/sgr"
	"scorel/protocol"
)

// component is what an extension draws. The lock of its [Components] guards it, but for
// sending.
type component struct {
	cs           *Components
	id           string
	source, name string
	input        func(Input) error

	owner         Viewer      // nil: nobody has it
	rev           int64       // of the newest input
	width, height int         // of the owner's screen; 0: it has not told
	next          *Frame      // that waits to be sent
	due           time.Time   // when a frame may be sent that keeps the pace
	timer         *time.Timer // sends next; nil while none waits
	closed        bool

	sending sync.Mutex // held while a frame is made and sent: they keep their order
}

// setOwner gives the component to a viewer, or to nobody. What was drawn for another one is
// dropped.
func (c *component) setOwner(v Viewer) {
	if c.owner != v {
		c.owner, c.width, c.height = v, 0, 0
	}
	c.next = nil
}

func (c *component) close() {
	c.closed, c.next = true, nil
	if c.timer != nil {
		c.timer.Stop()
	}
}

// draw has a frame sent as soon as may be.
func (c *component) draw(f Frame) {
	if c.owner == nil || c.width == 0 || c.closed {
		return
	}
	c.next = &f
	if c.timer == nil {
		c.timer = time.AfterFunc(max(0, time.Until(c.due.Add(-frameBurst*frameEvery))), c.send)
	}
}

// send sends the newest frame.
func (c *component) send() {
	defer func() {
		if r := recover(); r != nil {
			c.cs.cfg.Panicked(r)
		}
	}()
	c.sending.Lock()
	defer c.sending.Unlock()
	f, to, rev := c.take()
	if f != nil {
		to.Notify(c.frame(f, rev))
	}
}

func (c *component) take() (f *Frame, to Viewer, rev int64) {
	c.cs.mu.Lock()
	defer c.cs.mu.Unlock()
	f, to, rev = c.next, c.owner, c.rev
	c.next, c.timer = nil, nil
	if now := time.Now(); c.due.Before(now) {
		c.due = now
	}
	c.due = c.due.Add(frameEvery)
	if to == nil {
		return nil, nil, 0
	}
	return f, to, rev
}

// frame makes a frame fit for a client. rev is that of the newest input: no frame knows more.
func (c *component) frame(f *Frame, rev int64) *protocol.UIFrame {
	out := &protocol.UIFrame{SessionID: c.cs.cfg.Session, UIID: c.id, Rev: max(0, min(f.Rev, rev)), Width: max(0, min(f.Width, protocol.MaxCells))}
	out.Lines = Lines(f.Lines)
	if at := f.Cursor; at != nil && at.Row >= 0 && at.Row < len(out.Lines) && at.Column >= 0 && at.Column <= protocol.MaxCells {
		out.Cursor = &protocol.UICursor{Row: at.Row, Column: at.Column}
	}
	return out
}

// Lines returns lines with no control sequences but colours, within the bounds of a frame;
// the last one says what is left out.
func Lines(all []string) []string {
	out := make([]string, 0, min(len(all), protocol.MaxFrameLines))
	size := 0
	for i, l := range all {
		if len(l) <= protocol.MaxFrameBytes { // cleaning makes no line much longer
			l = sgr.Line(l)
		}
		if size += len(l); size > protocol.MaxFrameBytes-leftOut || i == protocol.MaxFrameLines-1 && len(all) > protocol.MaxFrameLines {
			return append(out, fmt.Sprintf("(%d more lines are not shown: a frame has at most %d lines and %d KiB)", len(all)-i, protocol.MaxFrameLines, protocol.MaxFrameBytes>>10))
		}
		out = append(out, l)
	}
	return out
}

// leftOut is room for the line that says what is left out, in bytes.
const leftOut = 128
