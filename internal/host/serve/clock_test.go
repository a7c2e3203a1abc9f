package serve

import (
	"net"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// moved is a clock of the machine that can be set, which leaves the monotonic clock alone.
type moved struct {
	mu         sync.Mutex
	at         time.Time
	wall, mono time.Duration // since at
}

func newMoved() *moved { return &moved{at: time.Now()} }

// pass has time pass.
func (m *moved) pass(d time.Duration) { m.set(d, d) }

func (m *moved) set(wall, mono time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall, m.mono = m.wall+wall, m.mono+mono
}

func (m *moved) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.at.Add(m.mono)
	// Nothing else makes a time whose two clocks differ: the seconds of the wall clock are 33
	// bits above the 30 of its nanoseconds (package time).
	*(*uint64)(unsafe.Pointer(&t)) += uint64(int64((m.wall-m.mono)/time.Second) << 30)
	return t
}

// deadlines is a connection that takes everything and keeps its last write deadline.
type deadlines struct {
	net.Conn
	until time.Time
}

func (d *deadlines) Write(p []byte) (int, error)         { return len(p), nil }
func (d *deadlines) Read(p []byte) (int, error)          { return len(p), nil }
func (d *deadlines) SetWriteDeadline(at time.Time) error { d.until = at; return nil }

func TestAClockThatIsSetCutsNobodyOff(t *testing.T) {
	for name, step := range map[string]time.Duration{"back": -24 * time.Hour, "forward": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			clock := newMoved()
			conn := &deadlines{}
			st := newStream(conn, clock.now)
			st.stall = time.Minute
			write := func() time.Duration {
				if _, err := st.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				return conn.until.Sub(clock.now())
			}
			if _, err := st.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			write()
			clock.set(step, 0)
			if got := st.silent(); got != 0 {
				t.Errorf("it counts as silent for %v", got)
			}
			clock.pass(2 * time.Minute)
			if got := st.silent(); got != 2*time.Minute {
				t.Errorf("it counts as silent for %v, not 2 min", got)
			}
			if left := write(); left < st.stall {
				t.Errorf("a write has %v", left)
			}
		})
	}
}
