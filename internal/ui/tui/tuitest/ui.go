package tuitest

import "strings"

// UI is a terminal UI that runs.
type UI struct{ *Tmux }

// Say types a line and sends it.
func (s *UI) Say(text string) {
	s.t.Helper()
	s.Type(text)
	s.Wait(text+" in the editor", func(screen string) bool { return strings.Contains(Flat(screen), Flat(text)) })
	s.Keys("Enter")
}

// Flat returns a text without what breaking lines does to it.
func Flat(text string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(text)
}

// Gone waits until a text is on the screen no more.
func (s *UI) Gone(text string) string {
	s.t.Helper()
	return s.Wait("no "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// Answered waits until a text has been shown n times and no turn runs any more, and gives
// the screen.
func (s *UI) Answered(text string, n int) string {
	s.t.Helper()
	return s.Wait(text+" and the end of the turn", func(screen string) bool {
		return strings.Count(screen, text) == n && !strings.Contains(screen, "esc to cancel")
	})
}

// between is how many looks at the screen there are between two keys of Until: a
// question takes keys when none has come for half a second.
const between = 100

// Until presses a key now and then until a text is on the screen.
func (s *UI) Until(text, key string) {
	s.t.Helper()
	looks := 0
	s.Wait(text+" after "+key, func(screen string) bool {
		if strings.Contains(screen, text) {
			return true
		}
		if looks%between == between-1 {
			s.Keys(key)
		}
		looks++
		return false
	})
}

// Shut closes what is open over the editor, and waits until it is.
func (s *UI) Shut(title string) {
	s.t.Helper()
	s.Keys("Escape")
	s.Gone(title)
}
