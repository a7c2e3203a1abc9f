package tui_test

import "testing"

func TestWhatIsTypedBeforeTheUIBeginsIsSentByItsEnter(t *testing.T) {
	h := newHarness(t)
	s := h.Shell()
	s.Type(`until [ -e go ]; do :; done; exec "$SCOREL" --model "$SCRIPT"`)
	s.Keys("Enter")
	s.Type("tell me änderungen")
	s.Keys("Enter")
	s.Type("half a li")
	s.WaitFor("half a li")
	h.Write(h.Project+"/go", "")
	s.WaitFor("● Understood.", "❯ tell me änderungen", "❯ half a li")
	s.Type("ne")
	s.WaitFor("❯ half a line")
}
