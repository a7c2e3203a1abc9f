package display

import (
	"strings"

	"scorel/protocol"
)

// NewestLook is how many sessions of a list of a project are asked for where [Newest] looks
// for one: those before it that may be of the project are damaged, and few.
const NewestLook = 20

// Newest returns the first session of a list of a project, newest first, that is known to be
// of it, nil without one. A session before it that may be the newest of the project is given,
// too: its log is damaged, and nobody knows which project it is of.
func Newest(sessions []protocol.SessionSummary) (newest, damaged *protocol.SessionSummary) {
	for i := range sessions {
		switch s := &sessions[i]; {
		case s.Damaged == "" || s.State != nil: // a host that has it open knows what it is of
			return s, damaged
		case damaged == nil:
			damaged = s
		}
	}
	return nil, damaged
}

// DamagedSession says for people that a session cannot be told to be the newest of a
// project, and what to do.
func DamagedSession(s *protocol.SessionSummary) string {
	id := string(s.SessionID)
	return "the session " + id + " is newer, and may be the one that you mean: " + Line(s.Damaged) + " " + DamagedAdvice(s)
}

// DamagedAdvice says how to look at what is left of a session whose log does not tell what it
// is of, where something is.
func DamagedAdvice(s *protocol.SessionSummary) string {
	id := string(s.SessionID)
	if strings.HasPrefix(s.Damaged, protocol.UnreadLog) {
		return "scorel sessions verify " + id + " names the file, which you have to correct or remove"
	}
	return "scorel sessions show " + id + " shows what is left of it"
}
