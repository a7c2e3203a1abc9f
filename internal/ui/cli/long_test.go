package cli

import (
	"encoding/json"
	"scorel/internal/ui/headless"
	"strings"
	"testing"
)

// TestTheWholeOfALongAnswerIsPrintedAndExported has an answer that no line of the log
// has room for.
func TestTheWholeOfALongAnswerIsPrintedAndExported(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 4<<16) + "the end"
	s := newStation(t, `{"again":true,"do":[{"thinking":"hm, "},{"text":"0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n","times":16384},{"text":"the end"}]}`)
	if got := s.ok("-p", "speak"); got != text+"\n" {
		t.Errorf("%d bytes are printed of %d: …%q", len(got), len(text)+1, got[max(0, len(got)-100):])
	}
	var end headless.Result
	if out := s.ok("-p", "--output-format", "json", "speak"); json.Unmarshal([]byte(out), &end) != nil || end.Result != text {
		t.Errorf("the result has %d bytes of %d", len(end.Result), len(text))
	}
	lines := strings.Split(strings.TrimSpace(s.ok("-p", "--output-format", "stream-json", "speak")), "\n")
	end = headless.Result{}
	if json.Unmarshal([]byte(lines[len(lines)-1]), &end) != nil || end.Result != text {
		t.Errorf("the result of the stream has %d bytes of %d", len(end.Result), len(text))
	}
	id := s.session()
	if got := s.ok("sessions", "export", id); !strings.Contains(got, text) || strings.Contains(got, "[cut") {
		t.Errorf("the Markdown has %d bytes, and not the whole text", len(got))
	}
	if got := s.ok("sessions", "export", id, "--format", "html"); !strings.Contains(got, text) || strings.Contains(got, "[cut") {
		t.Errorf("the page has %d bytes, and not the whole text", len(got))
	}
}
