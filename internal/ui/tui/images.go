package tui

import (
	"bytes"
	"context"
	"errors"
	"image"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"scorel/client"
	"scorel/internal/platform/lru"
	"scorel/internal/ui/tui/terminal"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// Bounds of the pictures of a conversation.
const (
	maxWanted      = 16               // images that finished lines wait for; others are lines of text
	maxSequence    = 4 << 20          // bytes with which the terminal draws one
	maxSequences   = 16 << 20         // of all that are ready and not in the scrollback yet
	imagePatience  = 2 * time.Second  // how long finished lines wait for one
	fetchPatience  = 10 * time.Second // how long the next one waits for one
	maxSizes       = 512              // images whose size in pixels is remembered
	keepSizes      = 384
	maxSent        = 4       // images that were sent from here and may be drawn
	keepSent       = 3       //
	maxSentPayload = 4 << 20 // bytes of one of these
)

// images makes the pictures that stand in the scrollback: in the background, one after
// the other, when the transcript is about to give the lines of an image. Its state but
// for sent belongs to the goroutine of the model.
type images struct {
	m *Model
	// sent has payloads that were sent from here, until they are drawn. It may be used by
	// anybody.
	sent *lru.Cache[string, []byte]
	jobs chan imageJob
	// attributes are what the terminal says of itself, nil until it does.
	attributes []int

	sizes *lru.Cache[string, image.Point] // by the payload's name
	asked map[imageKey]*asked             // of what is not in the scrollback yet; at most maxWanted
	bytes int                             // of the sequences in it
	late  bool                            // one has not come in time, and nothing since
}

// imageKey names an image as it is drawn.
type imageKey struct {
	blob          string
	width, height int // at most so many cells
	terminal      terminal.Terminal
}

// asked is an image that was asked for.
type asked struct {
	picture transcript.Picture
	timer   *time.Timer // has it waited for no more
}

// imageJob asks for an image of a session.
type imageJob struct {
	key     imageKey
	session protocol.SessionID
}

func newImages(m *Model) *images {
	return &images{m: m, sent: lru.New[string, []byte](maxSent, keepSent), jobs: make(chan imageJob, maxWanted),
		sizes: lru.New[string, image.Point](maxSizes, keepSizes), asked: map[imageKey]*asked{}}
}

// terminal says what the terminal can do by its environment, its answers and the settings.
func (m *Model) terminal() terminal.Terminal {
	t := terminal.Detect(m.getenv).Attributes(m.images.attributes)
	setting := m.settings.Images
	if setting == "auto" && m.settings.Plain {
		setting = "off"
	}
	t = t.Draws(setting)
	if size, err := unix.IoctlGetWinsize(int(m.cfg.Out.Fd()), unix.TIOCGWINSZ); err == nil {
		t = t.Cells(int(size.Xpixel), int(size.Ypixel), int(size.Col), int(size.Row))
	}
	return t
}

// Image implements [transcript.Images]. In full-screen mode, and where the terminal draws
// no pictures, nothing is fetched.
func (x *images) Image(blob, mediaType string, width, height int) transcript.Picture {
	key := imageKey{blob, width, height, x.m.terminal()}
	if a := x.asked[key]; a != nil {
		return a.picture
	}
	p := transcript.Picture{}
	p.Pixels, _ = x.sizes.Get(blob)
	if x.late || len(x.asked) >= maxWanted || x.m.scr.Full() || key.terminal.Graphics == terminal.NoGraphics || !drawable(mediaType) {
		return p
	}
	select {
	case x.jobs <- imageJob{key, x.m.id}:
	default: // those of another session still wait
		return p
	}
	p.Coming = true
	send := x.m.send
	x.asked[key] = &asked{picture: p, timer: time.AfterFunc(imagePatience, func() {
		send(then(func(m *Model) tea.Cmd { m.images.expire(key); return nil }))
	})}
	return p
}

// drawable says whether an image of a type can be decoded.
func drawable(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif":
		return true
	}
	return false
}

// expire has an image that has not come waited for no more.
func (x *images) expire(key imageKey) {
	a := x.asked[key]
	if a == nil || !a.picture.Coming {
		return
	}
	a.picture.Coming, x.late = false, true
	x.m.transcript.ImageReady(key.blob)
}

// come takes what came of an image. One that is late is a line of text already.
func (x *images) come(key imageKey, size image.Point, p terminal.Picture) {
	x.late = false
	if size != (image.Point{}) {
		x.sizes.Put(key.blob, size)
	}
	a := x.asked[key]
	if a == nil || !a.picture.Coming {
		return
	}
	a.timer.Stop()
	a.picture = transcript.Picture{Pixels: size}
	if n := len(p.Sequence); n > 0 && n <= maxSequence && x.bytes+n <= maxSequences {
		a.picture.Sequence, a.picture.Rows = p.Sequence, p.Rows
		x.bytes += n
	}
	x.m.transcript.ImageReady(key.blob)
}

// settle forgets the pictures when all images are in the scrollback.
func (x *images) settle() {
	if len(x.asked) > 0 && !x.m.transcript.ImagesLeft() {
		x.forget()
	}
}

// forget drops all pictures, and waits for none.
func (x *images) forget() {
	for _, a := range x.asked {
		a.timer.Stop()
	}
	clear(x.asked)
	x.bytes = 0
}

// changed has all images drawn anew: the terminal draws them in another way now.
func (x *images) changed() {
	x.forget()
	x.m.transcript.ImageReady("")
}

// run makes pictures until ctx ends.
func (x *images) run(ctx context.Context) {
	defer rescue(x.m.send)
	for {
		select {
		case job := <-x.jobs:
			size, p := x.make(ctx, job)
			x.m.send(then(func(m *Model) tea.Cmd { m.images.come(job.key, size, p); return nil }))
		case <-ctx.Done():
			return
		}
	}
}

// make gives the size and the picture of an image, as far as they can be had: the line of
// text is all that is said of one that cannot.
func (x *images) make(ctx context.Context, job imageJob) (size image.Point, p terminal.Picture) {
	ctx, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	data, _ := x.sent.Get(job.key.blob)
	if data != nil {
		x.sent.Put(job.key.blob, nil) // it is drawn once
	} else {
		var err error
		if data, err = x.m.link.payload(ctx, job.session, job.key.blob, terminal.MaxBytes); err != nil {
			return size, p
		}
	}
	size, err := terminal.Size(data)
	if err == nil {
		p, _ = job.key.terminal.Picture(data, job.key.width, job.key.height)
	}
	return size, p
}

// errLargePayload says that a payload is larger than what somebody wants of it.
var errLargePayload = errors.New("the payload is too large to be shown")

// payload fetches a payload of at most limit bytes that a session names. Anybody may call
// it.
func (l *link) payload(ctx context.Context, session protocol.SessionID, blob string, limit int64) ([]byte, error) {
	c, err := l.host(ctx)
	if err != nil {
		return nil, err
	}
	head, err := client.Call[*protocol.BlobPart](ctx, c, session, &protocol.GetBlob{SHA256: blob})
	switch {
	case err != nil:
		return nil, err
	case head.Size > limit:
		return nil, errLargePayload
	}
	var data bytes.Buffer
	err = c.Fetch(ctx, session, &protocol.BlobRef{SHA256: blob, Size: head.Size}, &data)
	return data.Bytes(), err
}
