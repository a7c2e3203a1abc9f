package disk

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A lock is an flock on a file that is never renamed and never removed, with the
// owner's text inside, followed by a pulse: a line that names machine, boot and
// process. Where flock is missing, or the file system is remote and another machine
// may not see it, the pulse is rewritten every few seconds. A pulse of another machine
// counts as alive for pulseLife after its last beat; one of this machine as long as
// its process runs.
//
// A child that is just being started shares the flock until it has become the other
// program. Where its parent was killed then, the lock is held by nobody for as long as
// that takes, which is waited for.
const (
	pulseMark  = "\npulse "
	pulseEvery = 5 * time.Second
	pulseLife  = 60 * time.Second // many beats, and clocks that differ a little
	settle     = 300 * time.Millisecond
	lookAgain  = 3 * time.Millisecond
	looks      = 5          // while its owner runs: somebody may only be looking (holder), or just letting go
	deadLooks  = 10_000 / 3 // once its owner has ended: 10 s
)

type pulse struct {
	Host  string `json:"host"`
	Boot  string `json:"boot"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // process start, in the kernel's unit
	Nonce string `json:"nonce"`
	At    int64  `json:"at"` // Unix milliseconds
}

// locker holds what locking asks of the system, so that tests can answer.
type locker struct {
	flock  func(f *os.File, how int) error
	remote func(f *os.File) bool
	self   func() pulse                     // who this process is, without At and Nonce
	alive  func(pid int, start uint64) bool // of a process on this machine
	now    func() time.Time
	write  func(f *os.File, text []byte) error
	wait   func(time.Duration) // between two tries, and until a claim has settled
	every  time.Duration
}

func systemLocker() *locker {
	return &locker{flock: flock, remote: isRemote, self: sync.OnceValue(selfPulse), alive: processRuns,
		now: time.Now, write: writeOwner, wait: time.Sleep, every: pulseEvery}
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}

// flockMissing tells an flock that does not work here from one that is held.
func flockMissing(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.EINVAL)
}

// errNoLock reports that something else is where a lock belongs. The owner's text would
// be written over what a link leads to.
var errNoLock = errors.New("a link or something else that is not a file is in the place of the lock; remove it")

func (l *locker) lock(name string, owner []byte) (Unlocker, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, &fs.PathError{Op: "lock", Path: name, Err: errNoLock}
	case err != nil:
		return nil, spaceError(err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, &fs.PathError{Op: "lock", Path: name, Err: errNoLock}
	}
	u, err := l.take(f, name, owner)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return u, nil
}

func (l *locker) take(f *os.File, name string, owner []byte) (Unlocker, error) {
	err := l.flock(f, unix.LOCK_EX|unix.LOCK_NB)
	for try := 0; errors.Is(err, unix.EWOULDBLOCK) && (try < looks || try < deadLooks && l.ended(f)); try++ {
		l.wait(lookAgain)
		err = l.flock(f, unix.LOCK_EX|unix.LOCK_NB)
	}
	missing := flockMissing(err)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		text, _ := readOwner(f)
		return nil, &LockedError{Name: name, Owner: text}
	case err != nil && !missing:
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	remote := missing || l.remote(f)
	if text, other := readOwner(f); remote && other != nil && l.beats(*other) {
		return nil, &LockedError{Name: name, Owner: text}
	}
	me := l.self()
	me.Nonce = rand.Text()
	beat := func() error {
		me.At = l.now().UnixMilli()
		line, err := json.Marshal(me)
		if err != nil {
			return err
		}
		return l.write(f, append(append(bytes.Clone(owner), pulseMark...), line...))
	}
	switch err := beat(); {
	case !remote && errors.Is(err, ErrNoSpace):
		// The flock is held, and only its owner cannot be named: what is locked may be removed,
		// which makes room. Nobody else is named either.
		_ = f.Truncate(0)
	case err != nil:
		return nil, err
	}
	if !remote {
		return &heldLock{f: f, name: name, again: func() (*os.File, error) {
			u, err := l.lock(name, owner)
			if err != nil {
				return nil, err
			}
			return u.(*heldLock).f, nil
		}}, nil
	}
	h := &heldLock{f: f, name: name, nonce: me.Nonce, now: l.now, stop: make(chan struct{}), done: make(chan struct{})}
	h.looked.Store(me.At)
	if missing {
		// Two that found the same dead owner both write; the later one stays.
		l.wait(settle)
		if text, now := readOwner(f); now == nil || now.Nonce != me.Nonce {
			return nil, &LockedError{Name: name, Owner: text}
		}
	}
	go func() { // ended by Unlock
		defer close(h.done)
		tick := time.NewTicker(l.every)
		defer tick.Stop()
		for {
			select {
			case <-h.stop:
				return
			case <-tick.C:
				if h.look() != nil {
					return // taken over while this machine slept: do not fight
				}
				h.io.Lock()
				err := beat()
				h.io.Unlock()
				if err == nil { // one missed beat is no harm
					h.looked.Store(me.At)
				}
			}
		}
	}()
	return h, nil
}

// ended reports that the owner that a file names was a process of this machine and runs
// no more.
func (l *locker) ended(f *os.File) bool {
	_, other := readOwner(f)
	return other != nil && l.here(*other) && !l.alive(other.PID, other.Start)
}

// here reports that a pulse is of this machine since it was started.
func (l *locker) here(p pulse) bool {
	me := l.self()
	return me.Boot != "" && me.Boot == p.Boot && me.Host == p.Host
}

// beats reports whether the owner that wrote p is still there.
func (l *locker) beats(p pulse) bool {
	if l.here(p) {
		return l.alive(p.PID, p.Start)
	}
	return l.now().UnixMilli()-p.At < pulseLife.Milliseconds()
}

func (l *locker) holder(name string) ([]byte, bool, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe is not waited for
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	err = l.flock(f, unix.LOCK_SH|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		text, _ := readOwner(f)
		return text, true, nil
	case err != nil && !flockMissing(err):
		return nil, false, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	if err == nil && !l.remote(f) {
		return nil, false, nil
	}
	text, other := readOwner(f)
	if other != nil && l.beats(*other) {
		return text, true, nil
	}
	return nil, false, nil
}

type heldLock struct {
	f      *os.File
	name   string
	nonce  string     // of the pulse
	io     sync.Mutex // held while the file is read or written
	now    func() time.Time
	again  func() (*os.File, error)    // takes the lock anew; nil with a pulse
	looked atomic.Int64                // when the lock was last known to be held, Unix milliseconds
	lost   atomic.Pointer[LockedError] // who took it over
	stop   chan struct{}               // nil without a pulse
	done   chan struct{}
	once   sync.Once
	gone   bool // Unlock was called; io guards it, and f
	err    error
}

// Held looks into the file when the last beat is older than it should be: the machine slept. A
// lock whose file another program has removed guards nothing, and is taken anew.
func (h *heldLock) Held() error {
	if h.stop == nil {
		return h.named()
	}
	if lost := h.lost.Load(); lost != nil {
		return lost
	}
	if age := h.now().UnixMilli() - h.looked.Load(); age >= 0 && age < 3*pulseEvery.Milliseconds() {
		return nil
	}
	return h.look()
}

// named takes the lock anew where its name no longer stands for its file.
func (h *heldLock) named() error {
	h.io.Lock()
	defer h.io.Unlock()
	if n, _ := namesOf(h.name, h.f); n == NamesIt || h.gone {
		return nil
	}
	f, err := h.again()
	if err != nil {
		return err
	}
	_ = h.f.Close()
	h.f = f
	return nil
}

// look reads who holds the lock: nobody, too, is somebody else who has let go. What cannot be
// read tells nothing.
func (h *heldLock) look() error {
	h.io.Lock()
	defer h.io.Unlock()
	var one [1]byte
	if _, err := h.f.ReadAt(one[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	if text, now := readOwner(h.f); now == nil || now.Nonce != h.nonce {
		lost := &LockedError{Name: h.name, Owner: text}
		h.lost.Store(lost)
		return lost
	}
	return nil
}

// Unlock lets go. A second call does nothing.
func (h *heldLock) Unlock() error {
	h.once.Do(func() {
		if h.stop != nil {
			close(h.stop)
			<-h.done
		}
		h.io.Lock()
		h.gone = true
		h.io.Unlock()
		var terr error
		if h.stop == nil || h.lost.Load() == nil && h.look() == nil {
			terr = h.f.Truncate(0) // nobody is named while nobody holds it
		}
		// A child that is just being started shares the open file until it has become
		// the other program, so closing it does not yet give the flock back. Where
		// there is none, or this fails, closing has to do.
		_ = flock(h.f, unix.LOCK_UN)
		h.err = h.f.Close()
		if h.err == nil {
			h.err = terr
		}
	})
	return h.err
}

func writeOwner(f *os.File, text []byte) error {
	if _, err := f.WriteAt(text, 0); err != nil {
		return spaceError(err)
	}
	if err := f.Truncate(int64(len(text))); err != nil {
		return spaceError(err)
	}
	return spaceError(f.Sync())
}

// readOwner returns the owner's text and its pulse, if there is a whole one.
func readOwner(f *os.File) ([]byte, *pulse) {
	buf := make([]byte, 8<<10)
	n, _ := f.ReadAt(buf, 0)
	text, rest, found := bytes.Cut(buf[:n], []byte(pulseMark))
	if !found {
		return text, nil
	}
	var p pulse
	if json.Unmarshal(rest, &p) != nil {
		return text, nil
	}
	return text, &p
}
