package serve

import (
	"net"
	"testing"
	"time"
)

// TestAClockThatIsSetBackHoldsNoConnection has a connection as it is after the clock was set
// back by an hour.
func TestAClockThatIsSetBackHoldsNoConnection(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	go func() { // ends with the pipe
		buf := make([]byte, 64)
		for {
			if _, err := far.Read(buf); err != nil {
				return
			}
		}
	}()
	st := &stream{Conn: near, stall: 40 * time.Millisecond}
	st.heard.Store(time.Now().Add(time.Hour).UnixNano())
	if _, err := st.Write([]byte("one")); err != nil {
		t.Fatal(err)
	}
	st.armed.Add(int64(time.Hour))
	time.Sleep(100 * time.Millisecond) // past the deadline that was set before
	if _, err := st.Write([]byte("two")); err != nil {
		t.Errorf("to a client that reads: %v", err)
	}
	if d := st.silent(); d < 0 {
		t.Errorf("silent for %v", d)
	}
	time.Sleep(10 * time.Millisecond)
	if d := st.silent(); d < 10*time.Millisecond {
		t.Errorf("then silent for %v", d)
	}
}
