package connect

import "time"

// settling is a list that changes.
type settling struct {
	timer *time.Timer   // nil: it never has
	since time.Time     // the first change that was not told; zero for none
	fresh time.Duration // for which the server says that it holds; 0 for none
	read  bool          // the server has sent it
}

// acknowledged is with what a server of the newest version says that it tells of changes from
// now on.
const acknowledged = "notifications/subscriptions/acknowledged"

// watching notes that changes are told from now on: a list that was read before may have
// changed unnoticed, so it is read again.
func (s *Server) watching() {
	s.mu.Lock()
	tools, others := s.settling[ofTools].read, s.settling[ofOthers].read
	s.mu.Unlock()
	if tools {
		s.changed(ofTools, s.options.ToolsChanged)
	}
	if others {
		s.changed(ofOthers, s.options.ListsChanged)
	}
}

// changed tells of a list that has changed when no more changes come, or have come for
// maxSettle.
func (s *Server) changed(which int, tell func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.settling[which]
	switch {
	case tell == nil || s.closed.Load():
	case l.since.IsZero():
		l.since = time.Now()
		l.timer = time.AfterFunc(settle, s.careful(func() {
			s.mu.Lock()
			l.since = time.Time{}
			s.mu.Unlock()
			tell()
		}))
	case time.Since(l.since) < maxSettle:
		l.timer.Reset(settle)
	}
}
