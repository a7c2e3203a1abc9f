package screen

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// Interval is the least time between two frames: 120 of them a second.
const Interval = time.Second / 120

// Options say what a [Screen] is for.
type Options struct {
	// Width and Height are the terminal's, in cells. When they are not positive the
	// terminal is asked; one that does not know has 80 by 24.
	Width, Height int
	// Full begins in full-screen mode.
	Full bool
	// NoReflow says that the terminal cuts lines when it gets narrower; others break
	// them again. See [Cuts].
	NoReflow bool
	// Focus asks for events when the window gets and loses the focus.
	Focus bool
	// Queries are written once, after the first frame, so that nothing waits for the
	// answers; they come with the keys. See [Queries].
	Queries string
	// Settle takes the answers to Queries that have not come yet from Input, which nobody
	// else reads any more; asked is when they were written. [Screen.Close] calls it when all
	// modes are set back, and while the input is still in raw mode: what comes later is
	// typed into the shell. Nil takes nothing.
	Settle func(asked time.Time)
	// Input is the terminal's side that keys are read from. While the screen is on it
	// is in raw mode: keys come one by one and are not echoed. Nil leaves that alone.
	Input *os.File
}

// Screen draws on a terminal. Make one with [New].
type Screen struct {
	out     io.Writer
	measure func() (width, height int) // of the terminal as it is now; 0 where it is not known
	options Options
	ready   chan struct{}
	wake    chan struct{} // holds at most one value: there is something to do
	ended   chan struct{} // closed when the writer has ended

	taken
	mu sync.Mutex // guards todo; nothing is written under it
	todo
}

// taken is what of the terminal is ours.
type taken struct {
	alt   atomic.Bool  // the alternate screen is on
	below atomic.Int64 // lines of the region below the cursor
	on    atomic.Bool  // the modes of the terminal are ours
	gone  atomic.Bool  // nothing is written any more
	title atomic.Bool  // the window's title is ours
	asked atomic.Int64 // when Queries were written, in Unix nanoseconds; 0: not yet
	saved atomic.Pointer[term.State]
}

// todo is what the writer is to do.
type todo struct {
	next    Frame   // what is to be drawn, without its Commit
	commit  backlog // what waits of the frames until then
	has     bool    // next is newer than what is on the screen
	whole   bool    // next was made for full-screen mode
	full    bool    // the mode that is wanted
	width   int
	height  int
	resized bool
	erased  bool // what is on the screen goes before the next frame
	wanted  bool // somebody waits for Ready
	busy    bool // the writer draws
	slot    time.Time
	closed  bool
	paused  bool
	asks    []ask
	err     error
}

// ask is what the writer is to do besides drawing.
type ask struct {
	do    func(p *painter)
	pause bool // frames wait after it
	done  chan struct{}
}

// New takes over a terminal: it sets its modes and begins to draw at the line that
// the cursor is in, which is to be empty. The caller ends it with [Screen.Close],
// which also ends the goroutine that writes.
func New(out io.Writer, o Options) (*Screen, error) {
	measure := func() (width, height int) { return 0, 0 }
	if f, ok := out.(*os.File); ok {
		measure = func() (int, int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0, 0
			}
			return width, height
		}
	}
	if o.Width <= 0 || o.Height <= 0 {
		if o.Width, o.Height = measure(); o.Width <= 0 || o.Height <= 0 {
			o.Width, o.Height = 80, 24
		}
	}
	s := &Screen{
		out: out, measure: measure, options: o, todo: todo{full: o.Full, width: o.Width, height: o.Height},
		ready: make(chan struct{}, 1), wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	if err := s.raw(); err != nil {
		return nil, err
	}
	go s.write()
	return s, nil
}

// raw sets the input's mode.
func (s *Screen) raw() error {
	if s.options.Input == nil {
		return nil
	}
	state, err := term.MakeRaw(int(s.options.Input.Fd()))
	if err != nil {
		return fmt.Errorf("set the terminal to raw mode: %w", err)
	}
	s.saved.Store(state)
	return nil
}

// cooked sets it back.
func (s *Screen) cooked() {
	if state := s.saved.Swap(nil); state != nil {
		_ = term.Restore(int(s.options.Input.Fd()), state)
	}
}

// Show hands over the newest frame and returns at once. The screen keeps the slices;
// the caller changes them no more.
func (s *Screen) Show(f Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.err != nil {
		return
	}
	s.commit.add(f.Commit, 0)
	f.Commit = nil
	s.next, s.has, s.whole = f, true, s.full
	s.nudge()
}

// Free reports whether a frame that is shown now would be drawn at once. When not,
// [Screen.Ready] gets a value as soon as one would be. Who composes frames only then
// composes none in vain.
func (s *Screen) Free() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle() && !time.Now().Before(s.slot) {
		return true
	}
	s.wanted = true
	s.nudge()
	return false
}

// idle says that nothing waits to be drawn. The caller holds mu.
func (s *Screen) idle() bool { return !s.has && !s.busy && !s.paused && !s.closed }

// Ready gets a value when a frame would be drawn at once, after [Screen.Free] has
// said that it would not. It is closed by [Screen.Close].
func (s *Screen) Ready() <-chan struct{} { return s.ready }

// SetSize tells a new size of the terminal, in cells. What is shown is drawn again with
// the next frame, which the caller makes for this size.
func (s *Screen) SetSize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if width <= 0 || height <= 0 || width == s.width && height == s.height {
		return
	}
	s.width, s.height, s.resized = width, height, true
}

// Size returns the size that frames are made for.
func (s *Screen) Size() (width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.width, s.height
}

// SetFull enters or leaves full-screen mode with the next frame; one that is shown
// already is drawn in the mode that it was made for.
func (s *Screen) SetFull(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// Full reports whether full-screen mode is on, or comes with the next frame.
func (s *Screen) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// Redraw has the next frame drawn whole, for when others have written on the terminal.
func (s *Screen) Redraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resized = true
}

// Erase has the next frame of inline mode begin at the top of an empty screen. What is in
// the terminal's scrollback stays.
func (s *Screen) Erase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erased = true
}

// Write sends a sequence that draws nothing (for the clipboard, a notification, the
// bell) between two frames. It returns when it is written. The sequence is made by
// package terminal.
func (s *Screen) Write(sequence string) { s.ask(ask{do: func(p *painter) { p.raw(sequence) }}) }

// Pause leaves the terminal to somebody else, such as an editor or the shell: what
// waits is drawn, the region is taken away, the cursor stands where it began, and all modes are as they
// were. It returns when all of that is written. Frames wait until [Screen.Resume].
func (s *Screen) Pause() {
	s.ask(ask{do: func(p *painter) { p.release(true) }, pause: true})
	s.cooked()
}

// Resume takes the terminal back and draws the last frame where the cursor is.
func (s *Screen) Resume() error {
	if err := s.raw(); err != nil {
		return err
	}
	s.mu.Lock()
	s.paused = false
	width, height := s.width, s.height
	s.mu.Unlock()
	s.ask(ask{do: func(p *painter) { p.frame(work{frame: p.last, full: p.lastFull, width: width, height: height}) }})
	return s.Err()
}

// Close draws what still waits, leaves the last frame where it is with the cursor
// on an empty line below it, sets all modes back, and ends the goroutine. It waits for
// the terminal. Further calls do nothing.
func (s *Screen) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed, s.paused = true, false
	s.nudge()
	s.mu.Unlock()
	<-s.ended
	if first {
		if asked := s.asked.Load(); asked != 0 && s.options.Settle != nil && s.saved.Load() != nil {
			s.options.Settle(time.Unix(0, asked))
		}
		s.cooked()
	}
	return s.Err()
}

// Err returns why nothing is written any more; nil as long as all is well.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Restore makes the terminal usable at once, for handlers of panics and signals: it
// takes no lock and waits for no frame. What the writer does from then on is lost.
func (s *Screen) Restore(w io.Writer) {
	if s.gone.Swap(true) {
		return
	}
	if s.on.Swap(false) {
		_, _ = io.WriteString(w, restore(s.alt.Swap(false), int(s.below.Load()), s.title.Load()))
	}
	s.cooked()
}

// ask has the writer do something, after the frame that waits, and waits until it is
// written.
func (s *Screen) ask(a ask) {
	a.done = make(chan struct{})
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.asks = append(s.asks, a)
	s.nudge()
	s.mu.Unlock()
	select {
	case <-a.done:
	case <-s.ended:
	}
}

// nudge wakes the writer.
func (s *Screen) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
