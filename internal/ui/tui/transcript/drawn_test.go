package transcript

import (
	"strings"
	"testing"

	"scorel/protocol"
)

// painted draws everything, or says that it comes.
type painted struct {
	drawn Drawn
	asked []Entry
}

func (p *painted) Drawn(e Entry) Drawn {
	p.asked = append(p.asked, e)
	return p.drawn
}

// ofExtension is a message of an extension.
func ofExtension() protocol.Event {
	e := protocol.NewEvent(&protocol.CustomMessage{Kind: "paint", Message: protocol.UserText("as it looks without")})
	e.ID = "e1"
	return e
}

func TestWhatIsFinishedWaitsForWhatAnExtensionDraws(t *testing.T) {
	p := &painted{drawn: Drawn{Coming: true}}
	tr, th := New(Config{Drawer: p}), plainTheme(t)
	tr.Append(ofExtension())
	tr.Note("info", "said after it")
	if got := tr.Commit(th, 80); len(got) > 0 {
		t.Fatalf("while it comes %q is given", got)
	}
	if region := strings.Join(tr.Region(th, 80, 10), "\n"); !strings.Contains(region, "as it looks without") {
		t.Errorf("meanwhile the region has %q", region)
	}
	p.drawn = Drawn{Body: []string{"painted " + strings.Repeat("x", 200)}}
	tr.EntryDrawn(p.asked[0])
	got := strings.Join(tr.Commit(th, 80), "\n")
	if !strings.Contains(got, "painted x") || strings.Contains(got, "without") || strings.Contains(got, strings.Repeat("x", 80)) || !strings.Contains(got, "said after it") {
		t.Errorf("%q", got)
	}
	if last := p.asked[len(p.asked)-1]; last.Event != "e1" || last.Name != "message paint" || last.Width != 78 {
		t.Errorf("it was asked for %+v", last)
	}
}

func TestWhatScorelSaysOfACallStaysBesideWhatAnExtensionDraws(t *testing.T) {
	p := &painted{drawn: Drawn{Call: []string{"looks harmless"}, Body: []string{}}}
	tr, th := New(Config{Drawer: p}), plainTheme(t)
	for i, body := range []protocol.Body{
		&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.ToolUse("c1", "deploy", []byte(`{}`))}}},
		&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionDeny},
		&protocol.MessageBody{Message: protocol.ToolError("c1", "deploy", "no")},
	} {
		e := protocol.NewEvent(body)
		e.ID, e.TS = protocol.EventID("e"+string(rune('1'+i))), int64(i+1)
		tr.Append(e)
	}
	got := strings.Join(tr.Commit(th, 80), "\n")
	if !strings.Contains(got, "looks harmless") || !strings.Contains(got, "denied") {
		t.Errorf("%q", got)
	}
}
