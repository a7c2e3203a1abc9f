package host

import (
	"scorel/protocol"
)

// noteCall writes down a request to an open session: who sent it and what became of
// it, never what it says.
func (c *Conn) noteCall(call protocol.Call, failed *protocol.Error) {
	if failed == nil && !call.Request.Spec().Mutates {
		return
	}
	if !c.h.sessions.Has(call.SessionID) {
		return
	}
	what := call.Request.Spec().Name + " of " + string(c.client)
	if failed != nil {
		what += " failed: " + string(failed.Code)
	}
	c.h.log.Report(call.SessionID, what, nil)
}
