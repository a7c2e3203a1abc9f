package agents

import (
	"cmp"
	"slices"
	"time"

	"scorel/protocol"
)

const (
	// grace is how long an agent that has ended is still listed: after its end, or after it
	// was looked at.
	grace = 30 * time.Second
	// again is how soon a second press must follow the first to stop an agent.
	again = 2 * time.Second
	// MaxRows is how many rows are seen at once; further ones are counted.
	MaxRows = 8
)

// Strip lists the agents of a session. Its zero value lists none.
type Strip struct {
	session protocol.SessionID // the main one
	tasks   []protocol.TaskInfo
	viewed  protocol.TaskInfo    // the agent whose session is shown, as it was known last; zero for none
	until   map[string]time.Time // by task, of those that have ended: how long they are listed

	focused bool
	cursor  protocol.SessionID // of the agent, "" on the main row
	at      int                // the row of the cursor, when it was there last
	first   int                // row that was seen first
	armed   armed
}

// armed is the first of two presses that stop an agent.
type armed struct {
	session protocol.SessionID
	at      time.Time
}

// Sync takes the tasks of the main session as they are now, and which session is shown: an
// agent's, or another one for none.
func (s *Strip) Sync(main protocol.SessionID, tasks []protocol.TaskInfo, shown protocol.SessionID, now time.Time) {
	fresh := s.session != main
	if fresh {
		*s = Strip{session: main}
	}
	if shown == main {
		shown = ""
	}
	if s.until == nil {
		s.until = map[string]time.Time{}
	}
	s.tasks = tasks
	for _, t := range tasks {
		if _, known := s.until[t.TaskID]; t.SessionID == "" || t.State == protocol.TaskRunning || known {
			continue
		}
		ended := now
		if at := time.UnixMilli(t.EndedAt); fresh && t.EndedAt > 0 && at.Before(now) {
			ended = at
		}
		s.until[t.TaskID] = ended.Add(grace)
	}
	s.view(shown, now)
	for id := range s.until {
		if id != s.viewed.TaskID && !slices.ContainsFunc(tasks, func(t protocol.TaskInfo) bool { return t.TaskID == id }) {
			delete(s.until, id)
		}
	}
	s.settle(now)
}

// view takes which agent is shown; "" is none.
func (s *Strip) view(shown protocol.SessionID, now time.Time) {
	was := s.viewed
	if until, ended := s.until[was.TaskID]; ended && was.SessionID != shown && !until.IsZero() {
		s.until[was.TaskID] = now.Add(grace)
	}
	if s.viewed = (protocol.TaskInfo{}); shown == "" {
		return
	}
	if i := newest(s.tasks, shown); i >= 0 {
		s.viewed = s.tasks[i]
		return
	}
	if s.viewed.SessionID = shown; was.SessionID == shown { // its host has forgotten it
		s.viewed = was
		if was.State == protocol.TaskRunning {
			s.viewed.State = protocol.TaskLost
		}
	}
}

// newest returns the newest task of an agent, which may have been resumed; -1 for none.
func newest(tasks []protocol.TaskInfo, session protocol.SessionID) int {
	for i, t := range slices.Backward(tasks) {
		if t.SessionID == session {
			return i
		}
	}
	return -1
}

// Rows returns the agents that are listed, the oldest first: those that work, the one that is
// shown, and those that have ended a short time ago. The main row is not among them.
func (s *Strip) Rows(now time.Time) []protocol.TaskInfo {
	var rows []protocol.TaskInfo
	seen := false
	for i, t := range s.tasks {
		if t.SessionID == "" || newest(s.tasks, t.SessionID) != i {
			continue
		}
		shown := t.SessionID == s.viewed.SessionID
		if shown || t.State == protocol.TaskRunning || s.until[t.TaskID].After(now) {
			rows = append(rows, t)
		}
		seen = seen || shown
	}
	if s.viewed.SessionID != "" && !seen {
		rows = append(rows, s.viewed)
	}
	slices.SortStableFunc(rows, func(a, b protocol.TaskInfo) int { return cmp.Compare(a.StartedAt, b.StartedAt) })
	return rows
}

// settle keeps the cursor on a row: when its agent is listed no more, on the one before.
func (s *Strip) settle(now time.Time) []protocol.TaskInfo {
	rows := s.Rows(now)
	if len(rows) == 0 {
		s.focused, s.cursor, s.at = false, "", 0
		return nil
	}
	if i := index(rows, s.cursor); i >= 0 {
		s.at = i
		return rows
	}
	s.at = min(max(0, s.at-1), len(rows))
	if s.cursor = ""; s.at > 0 {
		s.cursor = rows[s.at-1].SessionID
	}
	return rows
}

// index returns the row of an agent, counted from the main one at 0; -1 for none.
func index(rows []protocol.TaskInfo, id protocol.SessionID) int {
	if id == "" {
		return 0
	}
	i := slices.IndexFunc(rows, func(t protocol.TaskInfo) bool { return t.SessionID == id })
	if i < 0 {
		return -1
	}
	return i + 1
}

// Next is how long it takes until time alone changes who is listed, or what a press means; 0
// where it does not.
func (s *Strip) Next(now time.Time) time.Duration {
	var next time.Duration
	sooner := func(at time.Time) {
		if d := at.Sub(now); d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	for _, t := range s.Rows(now) {
		if t.State != protocol.TaskRunning && t.SessionID != s.viewed.SessionID {
			sooner(s.until[t.TaskID])
		}
	}
	if s.armed.session != "" {
		sooner(s.armed.at.Add(again))
	}
	return next
}

// Focused reports whether the strip takes the keys.
func (s *Strip) Focused(now time.Time) bool { return s.focused && len(s.Rows(now)) > 0 }

// Focus gives the strip the keys, with the cursor on the main row. It reports false when
// nobody is listed.
func (s *Strip) Focus(now time.Time) bool {
	if len(s.Rows(now)) == 0 {
		return false
	}
	s.focused, s.cursor, s.at = true, "", 0
	return true
}

// Blur takes the keys from the strip.
func (s *Strip) Blur() { s.focused = false }

// Down moves the cursor to the next row; it stops at the last.
func (s *Strip) Down(now time.Time) { s.move(1, now) }

// Up moves the cursor to the row before. On the main row the strip gives the keys back.
func (s *Strip) Up(now time.Time) {
	if s.settle(now); s.at == 0 {
		s.focused = false
		return
	}
	s.move(-1, now)
}

func (s *Strip) move(by int, now time.Time) {
	rows := s.settle(now)
	s.at = min(max(0, s.at+by), len(rows))
	if s.cursor = ""; s.at > 0 {
		s.cursor = rows[s.at-1].SessionID
	}
}

// Pick returns the session of the row of the cursor: the main one, or an agent's. It is ""
// when that row is there no more.
func (s *Strip) Pick(now time.Time) protocol.SessionID {
	was := s.cursor
	if s.settle(now); s.cursor != was || len(s.Rows(now)) == 0 {
		return ""
	}
	return cmp.Or(was, s.session)
}

// Click puts the cursor on a line of what was drawn last, and returns its session as Pick
// does.
func (s *Strip) Click(line int, now time.Time) protocol.SessionID {
	rows := s.settle(now)
	if at := s.first + line; len(rows) > 0 && line >= 0 && line < MaxRows && at <= len(rows) {
		s.focused, s.at = true, at
		if s.cursor = ""; at > 0 {
			s.cursor = rows[at-1].SessionID
		}
		return s.Pick(now)
	}
	return ""
}

// highlighted returns the agent whose row is marked: that of the cursor, or the one that is
// shown while the strip has not the keys; "" is the main one.
func (s *Strip) highlighted() protocol.SessionID {
	if s.focused {
		return s.cursor
	}
	return s.viewed.SessionID
}

// Viewed returns the agent whose session is shown, and false for none.
func (s *Strip) Viewed() (protocol.TaskInfo, bool) { return s.viewed, s.viewed.SessionID != "" }

// Ending is what is to be done with an agent that somebody wants to be rid of.
type Ending struct {
	Stop    string             // the task that is to be stopped; "" for none
	Cleared protocol.SessionID // the agent that is listed no more; "" for none
}

// End is a press on the agent that is highlighted: the second one within two seconds stops
// one that works, and one that has ended is listed no more.
func (s *Strip) End(now time.Time) Ending {
	s.settle(now)
	id := s.highlighted()
	i := index(s.Rows(now), id)
	if id == "" || i < 0 {
		return Ending{}
	}
	t := s.Rows(now)[i-1]
	switch {
	case t.State != protocol.TaskRunning:
		s.until[t.TaskID] = time.Time{} // if it is shown, it goes when it is left
		s.armed = armed{}
		s.settle(now)
		return Ending{Cleared: id}
	case s.armed.session == id && now.Sub(s.armed.at) < again:
		s.armed = armed{}
		s.until[t.TaskID] = time.Time{} // it has no grace
		return Ending{Stop: t.TaskID}
	}
	s.armed = armed{id, now}
	return Ending{}
}

// Armed reports whether a press within the last two seconds waits for a second one.
func (s *Strip) Armed(now time.Time) bool {
	return s.armed.session != "" && now.Sub(s.armed.at) < again
}

// Disarm forgets the first press, and reports whether there was one.
func (s *Strip) Disarm(now time.Time) bool {
	was := s.Armed(now)
	s.armed = armed{}
	return was
}

// Works notes that a task could not be stopped: it has its grace again.
func (s *Strip) Works(task string) { delete(s.until, task) }
