package client

import (
	"encoding/binary"
	"io"
	"time"

	"scorel/protocol"
)

// State returns how a [Client] stands with its host.
type State string

// The states, in the order in which they come. A client that has been connected
// goes back and forth between the last two until it is closed.
const (
	StateDisconnected State = "disconnected" // nothing was tried, or the client is closed
	StateConnecting   State = "connecting"   // it has never been connected
	StateConnected    State = "connected"
	StateReconnecting State = "reconnecting"
)

// Change is a new state. Connected is what the host said, in StateConnected. Err is
// why there is no connection, nil when nothing failed; with StateDisconnected it is
// why the client has ended. RetryIn is when the next try begins.
type Change struct {
	State     State
	Connected protocol.Connected
	Err       error
	RetryIn   time.Duration
}

// Waits between two tries to connect, as docs/protocol.md has them: full jitter below a
// window that doubles.
const (
	firstWait = 250 * time.Millisecond
	longWait  = 15 * time.Second
)

// fastRetries is how many tries in a row wait for the shortest time when the host has
// said that another takes over at once.
const fastRetries = 16

// window returns the longest wait before a try that so many failed before.
func window(failed int) time.Duration {
	w := firstWait
	for ; failed > 0 && w < longWait; failed-- {
		w *= 2
	}
	return min(w, longWait)
}

// jitter draws a wait between 0 and w.
func jitter(random io.Reader, w time.Duration) time.Duration {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return w
	}
	return time.Duration(binary.BigEndian.Uint64(b[:]) % uint64(w+1))
}
