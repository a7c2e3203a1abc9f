package lane

// Attended says whether somebody interactive watches the session.
func (l *Lane) Attended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attended > 0
}
