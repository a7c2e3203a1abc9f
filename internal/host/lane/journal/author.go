package journal

import "scorel/protocol"

// Author is on whose behalf an event is appended.
type Author struct {
	Client protocol.ClientID
	Cause  *protocol.Cause
	ID     protocol.EventID // of the event; "" generates one
}

// ByHost is the host as an author.
func ByHost() Author { return Author{Client: protocol.HostClient} }

// Authored is a body that enters with an author of its own.
type Authored struct {
	protocol.Body
	By Author
}

// Caller is the client and the request on whose behalf something is done.
type Caller struct {
	Client  protocol.ClientID
	Request protocol.RequestID
	Body    string // of the request, as [protocol.Cause] has it
	// OnceOnly says that the client may allow a call once, and no more than that.
	OnceOnly bool
}

// Author is the caller as the author of an event.
func (c Caller) Author() Author {
	if c.Request == "" { // the host itself
		return Author{Client: c.Client}
	}
	return Author{Client: c.Client, Cause: c.Cause()}
}

// Cause is the caller as an event or a header has it.
func (c Caller) Cause() *protocol.Cause {
	return &protocol.Cause{ClientID: c.Client, RequestID: c.Request, Body: c.Body}
}
