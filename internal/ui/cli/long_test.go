package cli

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"scorel/protocol"
)

// TestTheWholeOfALongAnswerIsPrintedAndExported has an answer that no line of the log
// has room for.
func TestTheWholeOfALongAnswerIsPrintedAndExported(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 4<<16) + "the end"
	s := newStation(t, `{"again":true,"do":[{"thinking":"hm, "},{"text":"0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n0123456789abcde\n","times":16384},{"text":"the end"}]}`)
	if got := s.ok("-p", "speak"); got != text+"\n" {
		t.Errorf("%d bytes are printed of %d: …%q", len(got), len(text)+1, got[max(0, len(got)-100):])
	}
	var end result
	if out := s.ok("-p", "--output-format", "json", "speak"); json.Unmarshal([]byte(out), &end) != nil || end.Result != text {
		t.Errorf("the result has %d bytes of %d", len(end.Result), len(text))
	}
	lines := strings.Split(strings.TrimSpace(s.ok("-p", "--output-format", "stream-json", "speak")), "\n")
	end = result{}
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

func TestATerminalIsGivenTheWholeOfWhatCameTooFast(t *testing.T) {
	var out strings.Builder
	p := &textPrinter{out: &out, errOut: io.Discard, live: true}
	message := protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("one two"), protocol.Text("three")}}
	for _, body := range []protocol.Body{
		&protocol.TextDelta{Delta: "one "}, &protocol.TextDelta{Delta: "two"}, &protocol.TextDelta{Delta: "three"}, &protocol.MessageBody{Message: message},
		&protocol.TextDelta{Delta: "one "}, &protocol.MessageBody{Message: message},
		&protocol.MessageBody{Message: message},
	} {
		if err := p.event(protocol.NewEvent(body)); err != nil {
			t.Fatal(err)
		}
	}
	want := "one twothree\none \n[some of it came too fast; this is all of it]\none two\nthree\none two\nthree\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
