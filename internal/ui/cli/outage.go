package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"scorel/client"
	"scorel/protocol/display"
)

// maxHostless is how long a command that waits for an answer waits for a host that
// has ended to be started again: a restart takes a moment, and a script must not hang.
const maxHostless = 30 * time.Second

// errHostGone says that nobody started a host again in time.
var errHostGone = fmt.Errorf("the host has ended and did not come back within %v; scorel host serve --detach starts one, and scorel attach shows how far the session came", maxHostless)

// outage follows the connection to a host. It is used by one goroutine.
type outage struct {
	lost     bool      // there is no connection
	hostless time.Time // when it was found that no host runs here
}

// told gives what is to be said of a change, once for each outage; "" is nothing.
// meanwhile is what the program does until the connection is back.
func (o *outage) told(c client.Change, meanwhile string) string {
	switch {
	case c.State == client.StateConnected && o.lost:
		*o = outage{}
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
	case errors.Is(c.Err, errNoHost) && o.hostless.IsZero():
		o.hostless = time.Now()
		return errNoHost.Error()
	}
	return ""
}

// tellOutages tells of outages on stderr. giveUp, when it is not nil, is called when
// no host has run here for [maxHostless].
func (a *app) tellOutages(giveUp context.CancelCauseFunc) func(client.Change) {
	var o outage
	return func(c client.Change) {
		if text := o.told(c, "trying again"); text != "" {
			fmt.Fprintln(a.stderr, "scorel: "+display.Line(text))
		}
		if giveUp != nil && errors.Is(c.Err, errNoHost) && !o.hostless.IsZero() && time.Since(o.hostless) >= maxHostless {
			giveUp(errHostGone)
		}
	}
}
