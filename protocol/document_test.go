package protocol

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func protocolPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// documented returns the lines of all blocks of the page with a name, in their order.
func documented(t *testing.T, name string) (lines []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)<!-- test: "+name+" -->\n```json\n(.*?)\n```").FindAllStringSubmatch(protocolPage(t), -1) {
		lines = append(lines, strings.Split(block[1], "\n")...)
	}
	if len(lines) == 0 {
		t.Fatalf("docs/protocol.md has no block %s", name)
	}
	return lines
}

func TestTheDocumentSaysWhichRequestsKeepTheirOrderOrDoNotWait(t *testing.T) {
	page := protocolPage(t)
	_, order, _ := strings.Cut(page, "These keep their order")
	order, _, _ = strings.Cut(order, "If another request")
	_, urgent, _ := strings.Cut(page, "If another request")
	urgent, _, _ = strings.Cut(urgent, "do not wait for other requests")
	for _, s := range Specs() {
		if got := strings.Contains(order, "`"+s.Name+"`"); got != (s.Order != nil) {
			t.Errorf("docs/protocol.md says whether %s keeps its order: %t", s.Name, got)
		}
		if got := strings.Contains(urgent, "`"+s.Name+"`"); got != s.Urgent {
			t.Errorf("docs/protocol.md says whether %s waits: %t", s.Name, !got)
		}
	}
}

func TestTheDocumentListsEveryCodeAndFrame(t *testing.T) {
	page := protocolPage(t)
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Code\w+ +(?:Code )?= "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 20 {
		t.Fatalf("errors.go has %d codes", len(codes))
	}
	_, table, _ := strings.Cut(page, "\n## Errors\n")
	for _, code := range codes {
		if !strings.Contains(table, "`"+code[1]+"`") {
			t.Errorf("docs/protocol.md lacks the code %s", code[1])
		}
	}
	_, table, _ = strings.Cut(page, "\n## Subscriptions\n")
	for _, f := range []Frame{&ResyncFrame{}, &EventsFrame{}, &LiveFrame{}, &SessionClosed{}, &SessionChanged{}, &ProjectsChanged{}, &AutomationChanged{}, &EntriesChanged{}, &GrantChanged{}, &ClientJoined{}, &ClientLeft{}, &HostStopping{}} {
		if !strings.Contains(table, "`"+f.FrameName()) {
			t.Errorf("docs/protocol.md lacks the frame %s", f.FrameName())
		}
	}
}

func TestTheDocumentedMessagesAreOnes(t *testing.T) {
	lines := documented(t, "messages")
	call, err := ParseCall([]byte(lines[0]))
	if err != nil {
		t.Fatal(err)
	}
	if p := call.Check(); p != nil {
		t.Errorf("%s: %v", lines[0], p.Err())
	}
	for _, line := range lines[1:] {
		reply, err := ParseReply([]byte(line), call.Request.Spec().Name)
		if err != nil || reply.RequestID != call.RequestID {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if again, err := json.Marshal(reply); err != nil || string(again) != line {
			t.Errorf("%s is written as %s, %v", line, again, err)
		}
	}
}

// follower is a client that follows the rules of docs/protocol.md to the letter.
type follower struct {
	t         *testing.T
	at        Anchors
	mode      Resync
	streaming bool
	handled   []Seq
	texts     []string // of stored messages
	running   string   // the text that is shown of the running message
}

// take applies a documented frame.
func (f *follower) take(line string) {
	f.t.Helper()
	frame, err := ParseFrame([]byte(line))
	if err != nil {
		f.t.Fatalf("%s: %v", line, err)
	}
	if again, err := MarshalFrame(frame); err != nil || string(again) != line {
		f.t.Errorf("%s is written as %s, %v", line, again, err)
	}
	switch frame := frame.(type) {
	case *ResyncFrame:
		f.mode, f.streaming = frame.Mode, frame.Mode == StreamResume
		switch frame.Mode {
		case PersistentFallback:
			f.at.StreamEpoch, f.at.StreamLastSeq, f.running = "", 0, ""
		case FullReload:
			f.at, f.texts, f.running = Anchors{}, nil, ""
		}
	case *EventsFrame:
		for _, e := range frame.Events {
			f.event(e)
		}
	case *LiveFrame:
		if f.mode != FullReload && frame.Live.PersistentLastSeq > f.at.PersistentLastSeq {
			f.t.Errorf("the live state is at %d, the events end at %d", frame.Live.PersistentLastSeq, f.at.PersistentLastSeq)
		}
		f.at, f.streaming, f.running = frame.Live.Anchors(), true, ""
		for _, m := range frame.Live.Messages {
			f.running += string(m.Blocks[0].Text)
		}
	}
}

func (f *follower) event(e Event) {
	if e.ID != "" && e.Seq <= f.at.PersistentLastSeq || e.ID == "" && e.Seq <= f.at.StreamLastSeq {
		return
	}
	f.handled = append(f.handled, e.Seq)
	if e.ID != "" {
		if e.Sum() != SumRight {
			f.t.Errorf("the line of %s is not as it was written", e.ID)
		}
		f.at.PersistentLastSeq, f.at.PersistentLastID = e.Seq, e.ID
		m, _ := e.Message()
		f.texts, f.running = append(f.texts, m.PlainText()), ""
	}
	if d, ok := e.Body.(*TextDelta); ok {
		f.running += d.Delta
	}
	if f.streaming {
		f.at.StreamLastSeq = e.Seq
	}
}

func TestTheWorkedExampleFollowsTheRulesOfTheDocument(t *testing.T) {
	f := &follower{t: t}
	lines := documented(t, "example")
	for i, line := range lines {
		if !strings.HasPrefix(line, `{"type":"open_session"`) {
			f.take(line)
			continue
		}
		call, err := ParseCall([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		said := call.Request.(*OpenSession).Anchors
		if i == 0 && said != nil || i > 0 && (said == nil || *said != f.at) {
			t.Errorf("message %d says the anchors %+v, the client is at %+v", i, said, f.at)
		}
	}
	if !reflect.DeepEqual(f.handled, []Seq{2, 8, 11, 12, 13, 14, 15}) || f.running != "Three te" {
		t.Errorf("handled are %v, and %q runs", f.handled, f.running)
	}
	resumed, restarted := *f, *f
	for _, line := range documented(t, "resume") {
		resumed.take(line)
	}
	for _, line := range documented(t, "fallback") {
		restarted.take(line)
	}
	if resumed.running != "Three tests are slow." || resumed.at.StreamLastSeq != 17 {
		t.Errorf("after the resume %q runs, at %+v", resumed.running, resumed.at)
	}
	if got := strings.Join(restarted.texts, "|"); got != "What is here?|Two files.|Which tests are slow?|Three tests are slow." || restarted.running != "" {
		t.Errorf("after the restart there is %s, and %q runs", got, restarted.running)
	}
}

func TestTheDocumentListsEveryEventWithItsFields(t *testing.T) {
	page, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[Class]string{Conversation: "\n## Conversation events\n", Control: "\n## Control events\n", Transient: "\n## Transient events\n"}
	types := 0
	for _, file := range []string{"events_persistent.go", "events_transient.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`Type\w+ +EventType = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
			types++
			body := newBody(EventType(found[1]))
			_, section, _ := strings.Cut(string(page), sections[body.class()])
			section, _, _ = strings.Cut(section, "\n## ")
			_, row, ok := strings.Cut(section, "\n| `"+found[1]+"` |")
			row, _, _ = strings.Cut(row, "\n")
			fields, _, _ := strings.Cut(row, " | ")
			if !ok {
				t.Errorf("docs/events.md lacks %s, or has it in another section", found[1])
				continue
			}
			var want []string
			for i := range reflect.TypeOf(body).Elem().NumField() {
				tag := reflect.TypeOf(body).Elem().Field(i).Tag.Get("json")
				want = append(want, strings.TrimSuffix(strings.Replace(tag, ",omitempty", "?", 1), ","))
			}
			var got []string
			for _, name := range regexp.MustCompile("`(\\w+\\??)[^`]*`").FindAllStringSubmatch(fields, -1) {
				got = append(got, name[1])
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("docs/events.md has the fields %v of %s, which are %v", got, found[1], want)
			}
		}
	}
	if types < 40 {
		t.Errorf("only %d types were found", types)
	}
}
