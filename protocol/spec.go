package protocol

import "strings"

// Spec says of a request all that is not in its fields. There is one for each, beside
// its type, and all of them are in a table that is generated ([Specs]). A host has a
// handler for each. It is static data: a program pays nothing for it when it starts.
type Spec struct {
	// Name is the type of the request on the wire. Aliases are older names, which are
	// read and never written.
	Name    string
	Aliases []string
	Scope   Scope
	// Grant is what a client needs. A permission answered for more than once needs
	// [GrantControl] whatever is said here.
	Grant Grant
	// Mutates says that carrying the request out changes a session or the host, so that
	// a second one with the same requestId must not act again. Reads are simply
	// repeated; so are payloads, whose parts name their place, and subscriptions, which
	// belong to their connection.
	Mutates bool
	// Subscribes says that it changes what its connection is sent, so that only a connection
	// that stays can make it.
	Subscribes bool
	// Urgent says that it must get through however many requests of its connection wait.
	Urgent bool
	// Order names the order that a call keeps: those of one connection with the same name
	// are carried out one after the other. A nil Order keeps none, which what may take
	// long must not.
	Order func(Call) string
	// Method and Path are where HTTP has it; segments of Path in braces are fields of the
	// request, or the session. A GET takes the other fields as parameters.
	Method, Path string
	// New makes an empty request, and Reply the empty response that belongs to it.
	New   func() Request
	Reply func() Response
	// Replay returns the answer to a repeat from the event that the request has left. A nil
	// Replay, and a nil response, mean the empty one.
	Replay func(Event) Response
}

// Kept is a [Response] that can be long. A repeat is answered with what is kept of it: it
// says what was done, and leaves out lists and texts that were told once.
type Kept interface {
	Response
	// Keep returns the response in at most so many bytes of lists and texts; itself where
	// it has no more.
	Keep(most int) Response
}

// Scope returns what a request is about.
type Scope int

// The scopes.
const (
	ScopeDevice  Scope = iota // the device; a session that is named does not count
	ScopeSession              // a session, which must be named
	ScopeNew                  // a session that it makes, whose id the client draws
	ScopeEither               // a session, or a folder or the device when none is named
)

// Specs returns the descriptors of all requests, by their names. It is not to be changed.
func Specs() []*Spec { return specs[:] }

// SpecOf returns the descriptor of the request that a name on the wire means, also by an
// older name; nil when there is none.
func SpecOf(name string) *Spec {
	for low, high := 0, len(specs); low < high; {
		mid := (low + high) / 2
		switch c := strings.Compare(name, specs[mid].Name); {
		case c == 0:
			return specs[mid]
		case c < 0:
			high = mid
		default:
			low = mid + 1
		}
	}
	for _, s := range specs {
		for _, alias := range s.Aliases {
			if alias == name {
				return s
			}
		}
	}
	return nil
}

// Answer returns the answer to a repeat of the request from the event that it has left.
func (s *Spec) Answer(e Event) Response {
	if s.Replay != nil {
		if r := s.Replay(e); r != nil {
			return r
		}
	}
	return s.Reply()
}

// inSession is the order of what a client may send to a session without waiting for the
// answer in between.
func inSession(c Call) string { return string(c.SessionID) }
