package follow

import (
	"errors"
	"strings"
	"time"

	"scorel/client"
)

// ErrNoHost says that no host runs on this machine.
var ErrNoHost = errors.New("no host runs here; scorel host serve --detach starts one")

// Outage follows the connection to a host, to tell of each outage once. It is used by one
// goroutine.
type Outage struct {
	lost     bool      // there is no connection
	hostless time.Time // when it was found that no host runs here
}

// Notice returns what a person is told of a change; "" is nothing. meanwhile is what the
// program does until the connection is back.
func (o *Outage) Notice(c client.Change, meanwhile string) string {
	switch {
	case c.State == client.StateConnected && o.lost:
		*o = Outage{}
		return "connected again"
	case c.State != client.StateReconnecting:
		return ""
	case !o.lost:
		o.lost = true
		why := ""
		if c.Err != nil && !errors.Is(c.Err, client.ErrClosed) {
			why = ": " + strings.TrimSuffix(c.Err.Error(), ".")
		}
		return "the connection is gone" + why + "; " + meanwhile
	case errors.Is(c.Err, ErrNoHost) && o.hostless.IsZero():
		o.hostless = time.Now()
		return ErrNoHost.Error()
	}
	return ""
}

// Lost reports whether there is no connection.
func (o *Outage) Lost() bool { return o.lost }

// Hostless returns for how long no host has run on this machine, as far as was seen.
func (o *Outage) Hostless() time.Duration {
	if o.hostless.IsZero() {
		return 0
	}
	return time.Since(o.hostless)
}
