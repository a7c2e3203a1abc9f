package history

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

func sizeOf(req model.Request) int {
	return textTokens(len(req.System)) + model.EstimateTokens(req.Messages[0])
}

func TestSummaryRequestFitsTheWindowWhateverItHolds(t *testing.T) {
	for name, fill := range map[string]func(*talk){
		"many messages": func(s *talk) {
			for i := range 3000 {
				s.user(fmt.Sprint("question ", i))
				s.say(tokens(50))
			}
		},
		"large messages": func(s *talk) {
			for range 10 {
				s.user(tokens(20_000))
				s.say(tokens(20_000))
			}
		},
		"large calls": func(s *talk) {
			for i := range 50 {
				m := answerOf("")
				id := fmt.Sprint("c", i)
				m.Content = []protocol.Block{protocol.ToolUse(id, "Write", []byte(`{"path":"/x","content":"`+tokens(5000)+`"}`))}
				s.message(m)
				s.result(id, tokens(5000))
			}
		},
		"wide characters": func(s *talk) {
			for range 40 {
				s.user(strings.Repeat("語", 9000))
				s.say("ok")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTalk()
			s.user("old")
			s.compact(s.say("x"), "", tokens(9000)) // a summary longer than it may be now
			fill(s)
			s.user("last")
			s.say("end")
			cut := mustPlan(t, s.buildIn(t, nil, small), small, false)
			req := SummaryRequest(cut, "")
			if n := sizeOf(req); n+req.MaxTokens > small.Threshold() {
				t.Errorf("%d tokens and %d for the answer, threshold %d", n, req.MaxTokens, small.Threshold())
			}
			text := req.Messages[0].PlainText()
			if !utf8.ValidString(text) || !strings.Contains(text, "older messages left out]") || !strings.HasSuffix(text, "words.\n") {
				t.Errorf("the request is %.300s … %s", text, text[len(text)-100:])
			}
			if req.Kind != model.KindCompact || req.Tools != nil {
				t.Errorf("kind %q, %d tools", req.Kind, len(req.Tools))
			}
		})
	}
}

func TestSummaryRequestIsSmallerWhereTheEstimateIsTooLow(t *testing.T) {
	s := newTalk()
	for range 50 {
		s.user(tokens(400))
		s.say("ok")
	}
	plain := sizeOf(SummaryRequest(mustPlan(t, s.buildIn(t, nil, small), small, false), ""))
	m := answerOf("counted")
	m.Usage = &protocol.Usage{InputTokens: 63_000} // three times the estimate
	s.message(m)
	s.user("go on")
	if n := sizeOf(SummaryRequest(mustPlan(t, s.buildIn(t, nil, small), small, false), "")); n > plain/2 {
		t.Errorf("the request has %d estimated tokens, without the count %d", n, plain)
	}
}

func TestSummaryRequestAbbreviatesResultsAndCalls(t *testing.T) {
	messages := []protocol.Message{
		protocol.UserText("go"),
		{Role: protocol.RoleAssistant, Content: []protocol.Block{
			{Type: protocol.BlockThinking, Thinking: "hidden"}, protocol.Text("I look"),
			protocol.ToolUse("a", "Read", []byte(`{"path":"/a"}`))}},
		resultOf("a", strings.Repeat("x", 3000)+"</conversation>"),
		protocol.ToolError("b", "Bash", "failed"),
		{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockImage}, {Type: protocol.BlockFile, Name: "n.pdf"}}},
	}
	text := summaryRequest(messages, 0, "", "TASK", 100, 10_000).Messages[0].PlainText()
	want := []string{"<conversation>\n[User] go\n[Assistant] I look\n[Assistant calls Read] {\"path\":\"/a\"}\n[Result of Read] xxx",
		" […] ", "\n[Error of Bash] failed\n[User] (image)\n[User] (file n.pdf)\n</conversation>\n\nTASK"}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the request lacks %q: %s", w, text)
		}
	}
	if strings.Count(text, "</conversation>") != 1 || strings.Contains(text, "hidden") || len(text) > 2300 {
		t.Errorf("the request is %s", text)
	}
}

func TestNewestMessageIsCutWhereEvenItDoesNotFit(t *testing.T) {
	got := fitEntries([]protocol.Message{protocol.UserText("old"), protocol.UserText(tokens(500))}, 0, 100)
	if len(got) != 2 || got[0] != "[1 older messages left out]" || len(got[0])+len(got[1]) > 400 || !strings.HasPrefix(got[1], "[User] word") {
		t.Errorf("entries: %q", got)
	}
}

func TestCutTextKeepsBothEndsAndWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		text  string
		chars int
		want  string
	}{
		{"abcdefghij", 5, "a[…]j"},
		{strings.Repeat("é", 20), 9, "éééé[…]éé"},
		{"abcdefghij", 2, "[…"},
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghij", 0, ""},
	} {
		got := cutText(c.text, c.chars, "[…]")
		if utf8.RuneCountInString(got) > c.chars || got != c.want {
			t.Errorf("cutText(%q, %d) = %q, want %q", c.text, c.chars, got, c.want)
		}
	}
}
