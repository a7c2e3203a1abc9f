// Package fault holds what becomes of a panic: who meets it, and what of
// the state that it may have left half changed is trusted afterwards.
//
// What belongs to one session is guarded by a [Mutex], which goes with the session's
// [Fuse]: the first panic in a goroutine of the session blows it, and from then on nobody
// enters any more. Who tries is unwound to the [Fuse.Catch] at the root of their
// goroutine. The session is then given up as it is and opened again from its log.
//
// What all sessions share is guarded by [Shared]. A panic while it is held cannot be made
// good: the process ends.
//
// Everything here may be used by any number of goroutines at once. Nothing of it recovers
// what a panic has done to the state; it only keeps others away from it.
package fault

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Panic is a panic that was caught.
type Panic struct {
	Value any
	Stack []byte
}

// Error returns what it was.
func (p *Panic) Error() string { return fmt.Sprintf("a fault inside Scorel: %v", p.Value) }

// Caught makes a Panic of what recover gave, which is not nil; it is called where that
// was. One that was caught before keeps its stack.
func Caught(recovered any) *Panic {
	if p, ok := recovered.(*Panic); ok {
		return p
	}
	return &Panic{recovered, debug.Stack()}
}

// Attempt runs f and returns its panic, nil if there was none.
func Attempt(f func()) (p *Panic) {
	defer func() {
		if r := recover(); r != nil {
			p = Caught(r)
		}
	}()
	f()
	return nil
}

// Group is a [sync.WaitGroup] whose waiter meets the panics of its goroutines: they are
// part of what the waiter does, so its root catches them. The zero value is ready.
type Group struct {
	wg    sync.WaitGroup
	mu    sync.Mutex
	first *Panic
}

// Go runs f in a goroutine.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.first == nil {
					g.first = Caught(r)
				}
			}
		}()
		f()
	})
}

// Wait waits for all goroutines, and panics with the first of their panics.
func (g *Group) Wait() {
	g.wg.Wait()
	if g.first != nil {
		panic(g.first)
	}
}

// Fuse blows with the first panic of a session.
type Fuse struct {
	once  sync.Once
	blown chan struct{} // closed when panic is set
	first *Panic
	tell  func(*Panic)
}

// NewFuse makes a fuse. Tell is called once, in a goroutine of its own, when it blows.
func NewFuse(tell func(*Panic)) *Fuse { return &Fuse{blown: make(chan struct{}), tell: tell} }

// Blow blows the fuse.
func (f *Fuse) Blow(p *Panic) {
	f.once.Do(func() {
		f.first = p
		close(f.blown)
		if f.tell != nil {
			go f.tell(p) // ends with what it does: the caller may hold anything
		}
	})
}

// Blown is closed when the fuse has blown.
func (f *Fuse) Blown() <-chan struct{} { return f.blown }

// Panic returns the first panic, nil while there was none.
func (f *Fuse) Panic() *Panic {
	select {
	case <-f.blown:
		return f.first
	default:
		return nil
	}
}

// Catch ends the panic of a goroutine of the session and blows the fuse. It is deferred
// itself, at the root of the goroutine.
func (f *Fuse) Catch() {
	if r := recover(); r != nil {
		f.Blow(Caught(r))
	}
}

// CatchError ends the panic of a function, blows the fuse and has the function return the
// panic as its error. It is deferred itself, with the address of that result.
func (f *Fuse) CatchError(err *error) {
	if r := recover(); r != nil {
		p := Caught(r)
		f.Blow(p)
		*err = p
	}
}

// Mutex guards state of a session. Nobody gets it any more when the fuse has blown: Lock
// panics with the first panic, as the caller's own is unwound. Who panics while they hold
// it blows the fuse, before anybody else gets it where Unlock is deferred, and else keeps
// it.
type Mutex struct {
	fuse *Fuse
	held chan struct{} // capacity 1; full while it is held
}

// NewMutex makes a mutex that goes with a fuse.
func NewMutex(f *Fuse) *Mutex { return &Mutex{fuse: f, held: make(chan struct{}, 1)} }

// Fuse returns the fuse that the mutex goes with.
func (m *Mutex) Fuse() *Fuse { return m.fuse }

// Lock waits for the mutex.
func (m *Mutex) Lock() {
	select {
	case m.held <- struct{}{}:
	default:
		select {
		case m.held <- struct{}{}:
		case <-m.fuse.blown:
			panic(m.fuse.first)
		}
	}
	if p := m.fuse.Panic(); p != nil {
		<-m.held
		panic(p)
	}
}

// Unlock returns the mutex back.
func (m *Mutex) Unlock() {
	if r := recover(); r != nil { // it was deferred
		p := Caught(r)
		m.fuse.Blow(p)
		<-m.held
		panic(p)
	}
	<-m.held
}

// Shared guards state that all sessions share. A panic while it is held is fatal.
type Shared struct {
	mu    sync.Mutex
	Fatal func(*Panic) // ends the process
}

// Lock waits for the mutex.
func (m *Shared) Lock() { m.mu.Lock() }

// Unlock returns the mutex back.
func (m *Shared) Unlock() {
	if r := recover(); r != nil { // it was deferred
		p := Caught(r)
		m.fatal(p)
		m.mu.Unlock()
		panic(p)
	}
	m.mu.Unlock()
}

// stuck is how long nobody holds state that is shared: no I/O is done under it.
const stuck = 5 * time.Second

// Check ends the process when a panic, which was caught, has left the mutex locked.
func (m *Shared) Check(p *Panic) {
	for late := time.Now().Add(stuck); !m.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			m.fatal(p)
			return
		}
	}
	m.mu.Unlock()
}

func (m *Shared) fatal(p *Panic) {
	if m.Fatal == nil {
		panic(p)
	}
	m.Fatal(p)
}
