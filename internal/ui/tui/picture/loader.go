package picture

import (
	"context"
	"image"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/lru"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/terminal"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// Bounds of the pictures of a conversation.
const (
	maxWanted      = 16               // images that finished lines wait for; others are lines of text
	maxSequence    = 4 << 20          // bytes with which the terminal draws one
	maxSequences   = 16 << 20         // of all that are ready and not in the scrollback yet
	imageTimeout   = 2 * time.Second  // how long finished lines wait for one
	fetchTimeout   = 10 * time.Second // how long the next one waits for one
	maxSizes       = 512              // images whose size in pixels is remembered
	keepSizes      = 384
	maxSent        = 4       // images that were sent from here and may be drawn
	keepSent       = 3       //
	maxSentPayload = 4 << 20 // bytes of one of these
)

// Source is where payloads come from.
type Source interface {
	Payload(ctx context.Context, session protocol.SessionID, blob string, limit int64) ([]byte, error)
}

// Screen is the terminal that the pictures are for.
type Screen interface {
	Terminal() terminal.Terminal
	Full() bool // the whole screen is in use, and nothing goes into the scrollback
}

// Session is the one that is open.
type Session interface{ ID() protocol.SessionID }

// Loader makes the pictures that are in the scrollback: in the background, one after the
// other, when the transcript is about to return the lines of an image. Its state but for
// sent belongs to the goroutine of the UI.
type Loader struct {
	source     Source
	screen     Screen
	send       func(tea.Msg)
	session    Session
	transcript *transcript.Transcript

	// sent has payloads that were sent from here, until they are drawn. Any goroutine may
	// use it.
	sent *lru.Cache[string, []byte]
	jobs chan imageJob

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

// New returns a loader that loads nothing until [Loader.Run]. Follow is called before the
// first image.
func New(source Source, screen Screen, send func(tea.Msg)) *Loader {
	return &Loader{source: source, screen: screen, send: send, sent: lru.New[string, []byte](maxSent, keepSent), jobs: make(chan imageJob, maxWanted),
		sizes: lru.New[string, image.Point](maxSizes, keepSizes), asked: map[imageKey]*asked{}}
}

// Follow sets the transcript that the images are of, and its session.
func (x *Loader) Follow(t *transcript.Transcript, s Session) { x.transcript, x.session = t, s }

// Sent keeps a payload that was sent from here: it is drawn without being fetched. Any
// goroutine may call it.
func (x *Loader) Sent(blob string, data []byte) {
	if len(data) <= maxSentPayload {
		x.sent.Put(blob, data)
	}
}

// Image implements [transcript.Images]. In full-screen mode, and where the terminal draws
// no pictures, nothing is fetched.
func (x *Loader) Image(blob, mediaType string, width, height int) transcript.Picture {
	key := imageKey{blob, width, height, x.screen.Terminal()}
	if a := x.asked[key]; a != nil {
		return a.picture
	}
	p := transcript.Picture{}
	p.Pixels, _ = x.sizes.Get(blob)
	if x.late || len(x.asked) >= maxWanted || x.screen.Full() || key.terminal.Graphics == terminal.NoGraphics || !drawable(mediaType) {
		return p
	}
	select {
	case x.jobs <- imageJob{key, x.session.ID()}:
	default: // those of another session still wait
		return p
	}
	p.Coming = true
	send := x.send
	x.asked[key] = &asked{picture: p, timer: time.AfterFunc(imageTimeout, func() {
		send(loop.Then(func() tea.Cmd { x.expire(key); return nil }))
	})}
	return p
}

// drawable reports whether an image of a type can be decoded.
func drawable(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif":
		return true
	}
	return false
}

// expire has an image that has not come waited for no more.
func (x *Loader) expire(key imageKey) {
	a := x.asked[key]
	if a == nil || !a.picture.Coming {
		return
	}
	a.picture.Coming, x.late = false, true
	x.transcript.ImageReady(key.blob)
}

// come takes what came of an image. One that is late is a line of text already.
func (x *Loader) come(key imageKey, size image.Point, p terminal.Picture) {
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
	x.transcript.ImageReady(key.blob)
}

// Settle forgets the pictures when all images are in the scrollback.
func (x *Loader) Settle() {
	if len(x.asked) > 0 && !x.transcript.ImagesLeft() {
		x.Forget()
	}
}

// Forget drops all pictures, and waits for none.
func (x *Loader) Forget() {
	for _, a := range x.asked {
		a.timer.Stop()
	}
	clear(x.asked)
	x.bytes = 0
}

// Changed has all images drawn again: the terminal draws them in another way now.
func (x *Loader) Changed() {
	x.Forget()
	x.transcript.ImageReady("")
}

// Run makes pictures until ctx ends.
func (x *Loader) Run(ctx context.Context) {
	defer loop.Rescue(x.send)
	for {
		select {
		case job := <-x.jobs:
			size, p := x.make(ctx, job)
			x.send(loop.Then(func() tea.Cmd { x.come(job.key, size, p); return nil }))
		case <-ctx.Done():
			return
		}
	}
}

// make returns the size and the picture of an image, as far as they can be had: the line of
// text is all that is said of one that cannot.
func (x *Loader) make(ctx context.Context, job imageJob) (size image.Point, p terminal.Picture) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	data, _ := x.sent.Get(job.key.blob)
	if data != nil {
		x.sent.Put(job.key.blob, nil) // it is drawn once
	} else {
		var err error
		if data, err = x.source.Payload(ctx, job.session, job.key.blob, terminal.MaxBytes); err != nil {
			return size, p
		}
	}
	size, err := terminal.Size(data)
	if err == nil {
		p, _ = job.key.terminal.Picture(data, job.key.width, job.key.height)
	}
	return size, p
}
