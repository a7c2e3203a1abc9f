package rpc

// The places that a [Move] leads to.
const (
	MoveNew    = "new"
	MoveFork   = "fork"
	MoveSwitch = "switch"
	MoveQuit   = "quit"
	MoveTree   = "tree"
)

// Move leads the client whose command runs to another session, or to its end; of tree the
// session goes to another branch, and who watches it stays.
type Move struct {
	To       string `json:"to"`
	EntryID  string `json:"entryId,omitempty"`  // of fork and tree
	Position string `json:"position,omitempty"` // of fork: "at" copies the entry too; else up to the one before a message of a person
	Session  string `json:"session,omitempty"`  // of switch: its id, or the path of its log
}

// Carry is what the client takes along to the session of a [Move]. The newest Editor and
// Message count.
type Carry struct {
	Editor  *string `json:"editor,omitempty"`
	Message *string `json:"message,omitempty"`
	Notice  string  `json:"notice,omitempty"`
}
