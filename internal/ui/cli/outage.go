package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scorel/client"
	"scorel/internal/ui/follow"
	"scorel/protocol/display"
)

// maxHostless is how long a command that waits for an answer waits for a host that has
// ended to be started again: a restart takes a moment, and a script must not hang.
const maxHostless = 30 * time.Second

// errHostGone says that nobody started a host again in time.
var errHostGone = fmt.Errorf("the host has ended and did not come back within %v; scorel host serve --detach starts one, and scorel attach shows how far the session came", maxHostless)

// notifyOutages reports outages on stderr. giveUp, when it is not nil, is called when no
// host has run here for [maxHostless].
func (a *app) notifyOutages(giveUp context.CancelCauseFunc) func(client.Change) {
	var o follow.Outage
	return func(c client.Change) {
		if text := o.Notice(c, "trying again"); text != "" {
			fmt.Fprintln(a.stderr, "scorel: "+display.Line(text))
		}
		if giveUp != nil && errors.Is(c.Err, follow.ErrNoHost) && o.Hostless() >= maxHostless {
			giveUp(errHostGone)
		}
	}
}
