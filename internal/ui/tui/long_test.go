package tui_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"scorel/protocol"
)

// streams is an answer that goes on until the test goes on too.
const streams = `{"if":{"user":"^stream"},"do":[{"text":"it streams in here. ","times":10},{"call":"Bash","input":{"command":"until [ -e go ]; do sleep 0.05; done"}}]}
{"if":{"result":"."},"do":[{"text":"it streams on. ","times":200},{"text":"\n\nThe stream has ended."}]}`

// top is the first line of a screen with something on it.
func top(screen string) string {
	for l := range strings.SplitSeq(screen, "\n") {
		if strings.TrimSpace(l) != "" {
			return l
		}
	}
	return ""
}

func TestASessionOf10000MessagesIsScrolledSearchedAndRewound(t *testing.T) {
	h := newHarness(t, streams)
	h.Write(h.Script, strings.Replace(h.Read(h.Script), `{"script":1}`, `{"script":1,"chunk":40,"delayMs":10}`, 1))
	h.Store(protocol.Meta{}, many(10_000, map[int]string{16: "wombat", 5000: "quokka"})...)
	s := h.Open("-c", "--permission-mode", "bypassPermissions")
	s.WaitFor("message 9999 answers", "ask something")
	if all := s.All(); !strings.Contains(all, "earlier messages: pgup goes to them") {
		t.Errorf("nothing says that there is more above:\n%s", all[:min(len(all), 1000)])
	}

	s.Keys("PageUp")
	s.Wait("the whole screen, a page up", func(screen string) bool {
		return s.Format("#{alternate_on}") == "1" && strings.Contains(screen, "message 99") && !strings.Contains(screen, "message 9999")
	})
	oldest, number := 9999, regexp.MustCompile(`message (\d+)`)
	for range 30 { // beyond what was held at first
		was := oldest
		s.Keys("PageUp")
		s.Wait("a page up", func(screen string) bool {
			if found := number.FindStringSubmatch(screen); found != nil {
				oldest, _ = strconv.Atoi(found[1])
			}
			return oldest < was
		})
	}
	if oldest > 9800 {
		t.Errorf("30 pages up stands message %d", oldest)
	}
	s.Type("typed")
	s.WaitFor("❯ typed", "message "+strconv.Itoa(oldest))
	s.Keys("C-c")
	s.Gone("❯ typed")

	s.Keys("PageUp", "Home")
	s.WaitFor("❯ message 0 asks")
	s.Keys("End")
	s.WaitFor("message 9999 answers")

	s.Keys("/")
	s.Type("wombat")
	s.WaitFor("message 16 asks for more wombat", "/wombat", "1 of 1")
	s.Keys("Enter")
	s.Resize(60, 20)
	s.WaitFor(strings.Repeat("─", 60)+"\n", "message 16 asks")
	s.Resize(120, 40)
	s.WaitFor(strings.Repeat("─", 120), "message 16 asks")
	s.Resize(100, 30)
	s.WaitFor(strings.Repeat("─", 100)+"\n", "message 16 asks")
	s.Keys("Escape", "Escape") // the search, and the conversation
	s.Wait("the scrollback", func(string) bool { return s.Format("#{alternate_on}") == "0" })
	s.WaitFor("message 9999 answers", "ask something")

	s.Say("stream now")
	s.WaitFor("it streams in here")
	s.Keys("PageUp")
	s.Wait("the page before it", func(screen string) bool {
		return strings.Contains(screen, "message 99") && !strings.Contains(screen, "it streams in here")
	})
	h.Write(filepath.Join(h.Project, "go"), "")
	before := top(s.WaitFor("message 99", "↓ new below"))
	s.Wait("the end of the turn", func(string) bool { return !strings.HasPrefix(s.Format("#{pane_title}"), "● ") })
	if after := top(s.Screen()); after != before {
		t.Errorf("%q was at the top, now %q", before, after)
	}
	s.Keys("End")
	s.WaitFor("The stream has ended.")
	s.Keys("Escape")
	s.Wait("the scrollback", func(string) bool { return s.Format("#{alternate_on}") == "0" })

	s.Say("/rewind")
	s.WaitFor("Tree · your messages")
	s.Type("quokka")
	s.WaitFor("❯ ● you: message 5000 asks")
	s.Keys("Enter")
	s.WaitFor("❯ 1. Edit this message")
	s.Keys("Enter")
	s.WaitFor("Leave the rest without a summary")
	s.Keys("Enter")
	s.WaitFor("❯ message 5000 asks for more quokka", "message 4999 answers")
	s.Keys("Enter")
	s.WaitFor("Understood.")
}

func TestWhatIsBeyondTheBoundOfTheScreenIsCountedAtItsTop(t *testing.T) {
	h := newHarness(t)
	h.Store(protocol.Meta{}, many(22_000, nil)...)
	s := h.Open("-c")
	s.WaitFor("message 21999 answers", "ask something")
	s.Keys("PageUp", "Home")
	// How many depends on the pages that were asked for on the way.
	counted := regexp.MustCompile(`↑ (\d+) earlier messages are not shown here: /tree shows them all, /export writes them\n❯ message (\d+) asks`)
	s.Wait("the count of what is not shown, above the message that follows it", func(screen string) bool {
		found := counted.FindStringSubmatch(screen)
		if found == nil || found[1] != found[2] {
			return false
		}
		n, _ := strconv.Atoi(found[1])
		return n > 1000 && n <= 2000
	})
}

// many returns messages that have their number, a few of them with a word of their own.
func many(n int, words map[int]string) []string {
	var all []string
	for i := range n {
		text := fmt.Sprintf("message %d asks for more", i)
		if i%2 == 1 {
			text = fmt.Sprintf("message %d answers that\n\nin two paragraphs", i)
		}
		all = append(all, text+" "+words[i])
	}
	return all
}
