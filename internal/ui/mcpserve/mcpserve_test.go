package mcpserve

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestAnAddressIsOfThisMachineUnlessOthersAreMeant(t *testing.T) {
	for _, c := range []struct {
		addr string
		open bool
		want string // "" is refused
	}{
		{"127.0.0.1:8765", false, "127.0.0.1:8765"}, {"localhost:1", false, "localhost:1"}, {"[::1]:0", false, "[::1]:0"}, {":8765", false, "127.0.0.1:8765"},
		{"127.0.0.2:1", true, "127.0.0.2:1"}, {"0.0.0.0:80", true, "0.0.0.0:80"}, {"desk.example:80", true, "desk.example:80"},
		{"0.0.0.0:80", false, ""}, {"desk.example:80", false, ""}, {":80", true, ""}, {"8765", false, ""}, {"127.0.0.1", false, ""}, {"", false, ""},
	} {
		got, err := CheckAddress(c.addr, c.open)
		if (err != nil) != (c.want == "") || got != c.want {
			t.Errorf("%q with %v: %q %v", c.addr, c.open, got, err)
		}
	}
}

func TestLinesThatAreNoJSONAreLeftOutAndNamedOnce(t *testing.T) {
	var told []string
	r := &lineReader{in: bufio.NewReaderSize(strings.NewReader("junk\n\n{\"a\":\n  1}\n{\"a\":1}\r\n[2]\nmore junk\n{\"b\":3}"), 16), notify: func(text string) { told = append(told, text) }}
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "{\"a\":1}\n[2]\n{\"b\":3}\n" || len(told) != 1 {
		t.Errorf("%q %v %q", got, err, told)
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestALineWithoutAnEndEndsTheServer(t *testing.T) {
	s := &Server{cfg: Config{Notify: func(string) {}}}
	r := &lineReader{in: bufio.NewReader(endless{}), notify: s.cfg.Notify}
	if _, err := io.ReadAll(r); !errors.Is(err, errLongLine) || r.ended.Load() != &errLongLine {
		t.Errorf("%v", err)
	}
}

func TestATokenThatOthersCouldReadIsReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scorel")
	first, replaced, err := Token(dir, rand.Reader)
	if err != nil || replaced || len(first) != 43 {
		t.Fatalf("%q %v %v", first, replaced, err)
	}
	if info, err := os.Stat(TokenFile(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if again, replaced, err := Token(dir, rand.Reader); again != first || replaced || err != nil {
		t.Errorf("%q %v %v", again, replaced, err)
	}
	if err := os.Chmod(TokenFile(dir), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, replaced, err := Token(dir, rand.Reader); again == first || !replaced || err != nil {
		t.Errorf("%v %v", replaced, err)
	}
	if err := os.WriteFile(TokenFile(dir), []byte("Authorization: Bearer short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, _, err := Token(dir, rand.Reader); token != "" || err == nil || strings.Contains(err.Error(), "short") {
		t.Errorf("%q %v", token, err)
	}
	if err := os.Remove(TokenFile(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", TokenFile(dir)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Token(dir, rand.Reader); err == nil {
		t.Error("a link was followed")
	}
}

func TestEachKindOfQuestionTakesItsAnswerAndNoAnswerWidensARight(t *testing.T) {
	permission := &protocol.PermissionRequest{PermissionID: "prm_1", ToolName: "Bash", Args: json.RawMessage(`{"command":"ls\u001b[2J"}`), Reason: "Not allowed.",
		Suggestions: []protocol.Suggestion{{Label: "Always", Scope: "always", Rule: "Bash(ls)"}, {Label: "Once", Scope: "once"}}}
	dialog := func(d protocol.Dialog) question { return question{dialog: &protocol.UIRequest{UIID: "ui_1", Data: d}} }
	options := []protocol.Option{{Label: "red"}, {Label: "blue"}}
	for _, c := range []struct {
		name   string
		q      question
		answer any
		reason string
		want   string // the request, as JSON; "" is refused
	}{
		{"a permission", question{permission: permission}, "allow", "", `{"permissionId":"prm_1","choice":1}`},
		{"a denial", question{permission: permission}, "deny", "no", `{"permissionId":"prm_1","choice":-1,"reason":"no"}`},
		{"a rule", question{permission: permission}, "always", "", ""},
		{"a number", question{permission: permission}, 0.0, "", ""},
		{"a permission that cannot be given once", question{permission: &protocol.PermissionRequest{Suggestions: permission.Suggestions[:1]}}, "allow", "", ""},
		{"words", dialog(protocol.Dialog{Kind: protocol.DialogQuestion, Questions: []protocol.Question{{Question: "?", Options: options}}}), []any{"blue"}, "", `{"uiId":"ui_1","value":["blue"]}`},
		{"too many words", dialog(protocol.Dialog{Kind: protocol.DialogQuestion, Questions: []protocol.Question{{Question: "?", Options: options}}}), []any{"blue", "red"}, "", ""},
		{"a choice", dialog(protocol.Dialog{Kind: protocol.DialogSelect, Options: options}), "red", "", `{"uiId":"ui_1","value":"red"}`},
		{"a choice that is none", dialog(protocol.Dialog{Kind: protocol.DialogSelect, Options: options}), "green", "", ""},
		{"yes", dialog(protocol.Dialog{Kind: protocol.DialogConfirm}), true, "", `{"uiId":"ui_1","value":true}`},
		{"a line", dialog(protocol.Dialog{Kind: protocol.DialogInput}), "x", "", `{"uiId":"ui_1","value":"x"}`},
		{"nothing", dialog(protocol.Dialog{Kind: protocol.DialogInput}), nil, "", `{"uiId":"ui_1","value":null}`},
		{"a plan", dialog(protocol.Dialog{Kind: protocol.DialogPlan}), "approve", "", `{"uiId":"ui_1","value":{"decision":"approve"}}`},
		{"a plan to revise", dialog(protocol.Dialog{Kind: protocol.DialogPlan}), "revise", "shorter", `{"uiId":"ui_1","value":{"decision":"revise","feedback":"shorter"}}`},
		{"a plan with another mode", dialog(protocol.Dialog{Kind: protocol.DialogPlan}), "acceptEdits", "", ""},
		{"a plan with another mode as an object", dialog(protocol.Dialog{Kind: protocol.DialogPlan}), map[string]any{"decision": "acceptEdits"}, "", ""},
		{"no plan", dialog(protocol.Dialog{Kind: protocol.DialogPlan}), nil, "", `{"uiId":"ui_1","value":null}`},
		{"a form", dialog(protocol.Dialog{Kind: protocol.DialogForm, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"string"}}}`)}), map[string]any{"n": "x"}, "", `{"uiId":"ui_1","value":{"n":"x"}}`},
		{"an address", dialog(protocol.Dialog{Kind: protocol.DialogURL, URL: "https://a.example"}), false, "", `{"uiId":"ui_1","value":false}`},
	} {
		r, err := c.q.request(c.answer, c.reason)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s was taken: %+v", c.name, r)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got, want any
		data, _ := json.Marshal(r)
		_, _ = json.Unmarshal(data, &got), json.Unmarshal([]byte(c.want), &want)
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if !bytes.Equal(a, b) {
			t.Errorf("%s is %s, want %s", c.name, a, b)
		}
		if s := c.q.show(); s.Answer == "" || strings.Contains(s.Text, "\x1b") || len(s.Text) > maxQuestion+4 {
			t.Errorf("%s is shown as %+v", c.name, s)
		}
	}
}

// TestWhoDecidesAboutACallIsShownAllOfIt: what does not fit is counted, and nothing hides in it.
func TestWhoDecidesAboutACallIsShownAllOfIt(t *testing.T) {
	ask := func(command string) string {
		args, err := json.Marshal(map[string]any{"command": command, "timeout_seconds": 5})
		if err != nil {
			t.Fatal(err)
		}
		return question{permission: &protocol.PermissionRequest{ToolName: "Bash", Args: args, Reason: "It is asked."}}.show().Text
	}
	padded := "echo " + strings.Repeat("a", 5000) + "; rm -rf x"
	if got := ask(padded); !strings.Contains(got, "It is asked.\ncommand: "+padded+"\ntimeout_seconds: 5") {
		t.Errorf("a long command is shown as %.200q", got)
	}
	if got := ask("cat a \x1b[1;1m -rf b"); !strings.Contains(got, "command: cat a [U+001B][1;1m -rf b") {
		t.Errorf("a command with a control sequence is shown as %q", got)
	}
	if got := ask("cat a\u200db"); strings.Contains(got, "\u200d") || !strings.Contains(got, "command: cat a[U+200D]b") {
		t.Errorf("a command with a character that is not seen is shown as %q", got)
	}
	if got := ask(strings.Repeat("a", maxAsked) + "; rm"); !strings.HasSuffix(got, " more bytes, which a person has to look at before this is allowed") || len(got) > maxAsked+maxQuestion {
		t.Errorf("of a command that is too long is said %q", got[len(got)-100:])
	}
}

// message is a stored message.
func message(text string) protocol.Event {
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(text)})
	e.ID = "evt_1"
	return e
}

func TestALongConversationIsAResourceOfItsNewestMessages(t *testing.T) {
	var events []protocol.Event
	for range 100 {
		events = append(events, message(strings.Repeat("x", 10_000)+" old"))
	}
	events = append(events, message("the newest"))
	text, err := markdown("ses_1", events, false)
	if err != nil || len(text) > maxResource+4 || !strings.Contains(text, "the newest") || !strings.HasPrefix(text, "Older messages are left out") {
		t.Errorf("%d bytes, %v: %.200s", len(text), err, text)
	}
	text, err = markdown("ses_1", []protocol.Event{message(strings.Repeat("y", 1<<20))}, true)
	if err != nil || len(text) > maxResource+200 {
		t.Errorf("%d bytes of one message, %v", len(text), err)
	}
}

func TestATurnThatIsKnownToHaveBegunRunsUntilItIsSeen(t *testing.T) {
	w := &watch{changed: make(chan struct{})}
	w.expect("trn_1")
	if st := w.now(); !st.running || st.turn != "trn_1" || st.word() != "running" {
		t.Errorf("%+v", st)
	}
	w.saw("trn_1")
	w.expect("trn_1") // the answer came after its events
	if st := w.now(); st.running || st.word() != "idle" {
		t.Errorf("%+v", st)
	}
}
