package serve

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

// parent is a process that has started the host, and talks to it over lines.
type parent struct {
	t     *testing.T
	to    *io.PipeWriter
	lines chan string // all that was written, closed at the end
	ended chan error
}

func (w *world) parent() *parent {
	w.t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	p := &parent{t: w.t, to: to, lines: make(chan string, 4096), ended: make(chan error, 1)}
	go func() { // ends with out; a parent reads while it writes
		defer close(p.lines)
		for r := bufio.NewReader(from); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- line
		}
	}()
	go func() { // ends with in, out or the host
		err := w.server.Lines(in, out)
		_ = out.Close()
		p.ended <- err
	}()
	w.t.Cleanup(func() {
		_ = to.Close()
		_ = from.Close()
	})
	return p
}

// next reads a line.
func (p *parent) next() (m map[string]any, err error) {
	line, ok := <-p.lines
	if !ok {
		return nil, io.EOF
	}
	return m, json.Unmarshal([]byte(line), &m)
}

// until reads lines up to one that fits.
func (p *parent) until(fits func(map[string]any) bool) map[string]any {
	p.t.Helper()
	for {
		m, err := p.next()
		if err != nil {
			p.t.Fatal(err)
		}
		if fits(m) {
			return m
		}
	}
}

func (p *parent) write(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.to, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *parent) call(id protocol.SessionID, r protocol.Request) map[string]any {
	p.t.Helper()
	call := protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: id, Request: r}
	data, err := json.Marshal(call)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(string(data))
	return p.until(func(m map[string]any) bool { return m["requestId"] == string(call.RequestID) })
}

func TestAParentProcessTalksOverLinesWithoutAHandshake(t *testing.T) {
	w := newWorld(t, setting{answers: answers(2)})
	p := w.parent()
	if m, err := p.next(); err != nil || m["type"] != "connected" || m["grant"] != "control" || m["version"] != "test" {
		t.Fatalf("the first line is %v, %v", m, err)
	}
	var ids []protocol.SessionID
	for range 2 {
		id := protocol.NewSessionID(time.Now(), rand.Reader)
		if m := p.call(id, &protocol.CreateSession{Meta: protocol.Meta{WorkDir: w.project}}); m["type"] != "response" {
			t.Fatalf("create_session: %v", m)
		}
		if m := p.call(id, &protocol.OpenSession{}); m["type"] != "response" {
			t.Fatalf("open_session: %v", m)
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if m := p.call(id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("hi")}}); m["type"] != "response" {
			t.Fatalf("send_message: %v", m)
		}
		p.until(func(m map[string]any) bool {
			text, _ := json.Marshal(m)
			return m["sessionId"] == string(id) && strings.Contains(string(text), `"runtime_end"`)
		})
	}
}

func TestALineThatIsNoRequestIsAnsweredAndTheNextOnesAreRead(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.parent()
	for _, line := range []string{"hello?", `{"type":"nothing","requestId":"req_00000000000000000000000000"}`,
		`{"type":"ping","requestId":"req_00000000000000000000000001","x":"` + strings.Repeat("x", protocol.MaxMessage) + `"}`} {
		p.write(line)
		m := p.until(func(m map[string]any) bool { return m["type"] == "error" })
		want := "invalid_request"
		if len(line) > protocol.MaxMessage {
			want = "payload_too_large"
		}
		if m["code"] != want {
			t.Errorf("%.60s was answered with %v", line, m)
		}
	}
	p.write("")
	if m := p.call("", &protocol.Ping{}); m["type"] != "response" {
		t.Errorf("ping: %v", m)
	}
}

func TestTheEndOfTheInputEndsTheConnectionWhenAllIsAnswered(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.parent()
	go func() {
		for range 100 { // more than run at once
			data, _ := json.Marshal(protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), Request: &protocol.ListProjects{}})
			_, _ = p.to.Write(append(data, '\n'))
		}
		_ = p.to.Close()
	}()
	answered := 0
	for {
		m, err := p.next()
		if err != nil {
			break
		}
		if m["type"] == "response" {
			answered++
		}
	}
	if err := <-p.ended; err != nil || answered != 100 {
		t.Errorf("%d were answered, then %v", answered, err)
	}
}

func TestTheEndOfTheHostEndsTheConnectionOfAParent(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.parent()
	if _, err := p.next(); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- w.host.Close() }()
	for {
		if _, err := p.next(); err != nil {
			break
		}
	}
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// panics is an input at which reading panics.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("injected") }

func TestAPanicInTheReaderOfAParentEndsItsConnectionAlone(t *testing.T) {
	w := newWorld(t, setting{})
	var out bytes.Buffer
	if err := w.server.Lines(panics{}, &out); err == nil || !strings.Contains(err.Error(), "injected") {
		t.Errorf("it ends with %v", err)
	}
	if !strings.HasPrefix(out.String(), `{"type":"connected"`) {
		t.Errorf("written is %q", out.String())
	}
	w.parent().call("", &protocol.GetStatus{}) // the host goes on
}

func TestARepeatOfAParentMeetsTheFirstAfterARestart(t *testing.T) {
	w := newWorld(t, setting{answers: answers(2)})
	p := w.parent()
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	p.call(id, &protocol.CreateSession{Meta: protocol.Meta{WorkDir: w.project}})
	line := `{"type":"send_message","requestId":"req_00000000000000000000000004","sessionId":"` + string(id) + `","content":[{"type":"text","text":"hi"}]`
	mine := func(m map[string]any) bool { return m["requestId"] == "req_00000000000000000000000004" }
	p.write(line + "}")
	first := p.until(mine)
	w.restart()
	p = w.parent()
	p.write(line + `,"repeat":true}`)
	second := p.until(mine)
	a, _ := first["data"].(map[string]any)
	b, _ := second["data"].(map[string]any)
	if a["eventId"] == nil || a["eventId"] != b["eventId"] {
		t.Errorf("the first was answered with %v, its repeat with %v", first, second)
	}
}
