package tui_test

import "testing"

func TestWhatIsTypedBeforeTheUIBeginsIsSentByItsEnter(t *testing.T) {
	w := newWorld(t)
	s := w.shell()
	s.Type(`until [ -e go ]; do :; done; exec "$SCOREL" --model "$SCRIPT"`)
	s.Keys("Enter")
	s.Type("tell me änderungen")
	s.Keys("Enter")
	s.Type("half a li")
	s.WaitFor("half a li")
	w.write(w.project+"/go", "")
	s.WaitFor("● Understood.", "❯ tell me änderungen", "❯ half a li")
	s.Type("ne")
	s.WaitFor("❯ half a line")
}
