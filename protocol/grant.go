package protocol

import "fmt"

// Grant is what a client may do.
type Grant string

// The grants; each of the first three allows what those before it do.
const (
	// GrantView looks.
	GrantView Grant = "view"
	// GrantAnswer also answers questions (a permission once, or not at all) and
	// cancels.
	GrantAnswer Grant = "answer"
	// GrantControl does everything.
	GrantControl Grant = "control"
	// GrantPending does nothing: it is what a client has that waits to be confirmed. It
	// cannot be given.
	GrantPending Grant = "pending"
)

// rank orders grants; 0 is none.
func (g Grant) rank() int {
	switch g {
	case GrantView:
		return 1
	case GrantAnswer:
		return 2
	case GrantControl:
		return 3
	}
	return 0
}

// NamesFolder is a request that needs less than [GrantControl] and is about a folder that the
// client names, "" for none. Those of projects that the host knows can be named by whoever may
// look; others need control, for the answer says whether there is such a folder, and what its
// files set up.
type NamesFolder interface {
	Request
	NamedFolder() string
}

// Check fails for what is no grant.
func (g Grant) Check() error {
	if g.rank() == 0 {
		return fmt.Errorf("the grant is %q; it can be view, answer or control", clip(string(g)))
	}
	return nil
}

// Allows reports whether a client of this grant may do what needs another.
func (g Grant) Allows(needed Grant) bool { return g.rank() > 0 && g.rank() >= needed.rank() }
