package serve

import (
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"scorel/protocol"
	"scorel/protocol/handshake"
)

var update = flag.Bool("update", false, "write the golden files")

// record is what both sides of a connection say, as it stands on the wire but for
// what is drawn at random or told by a clock. Calls with their answers and the frames
// of a session stand apart: which of them comes first depends on timing. So does
// where one frame of events ends and the next begins: each event stands by itself.
type record struct {
	t                        *testing.T
	handshake, calls, frames []string
	names                    map[string]string
	count                    map[string]int
}

// plain returns a text with names for ids, in the order in which they come.
func (r *record) plain(s string) string {
	text := regexp.MustCompile(`\b(ses|evt|prj|trn|req|epo|cli|dev)_[0-9a-v]{16,26}\b`).ReplaceAllStringFunc(s, func(id string) string {
		if r.names[id] == "" {
			kind := id[:3]
			r.count[kind]++
			r.names[id] = fmt.Sprintf("%s_%d", kind, r.count[kind])
		}
		return r.names[id]
	})
	for _, change := range [][2]string{
		{`"crc":"[0-9a-f]{8}"`, `"crc":"8 digits"`},
		{`"(nonce|proof)":"[^"]{43}="`, `"$1":"32 bytes"`},
		{`"body":"[0-9a-f]{32}"`, `"body":"a hash"`},
		{`"(ts|createdAt|updatedAt)":\d{13}`, `"$1":0`},
		{`"(bytes|\w+Tokens)":\d+`, `"$1":0`},
		{`"[^"]*/\d+/project"`, `"/project"`},
		{`("type":"instruction_snapshot".*?"snapshot":).*\}`, `${1}{}}`}, // says what the machine has
	} {
		text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
	}
	return text
}

// heard notes a message of the host.
func (r *record) heard(data []byte) (typ string) {
	var m struct {
		Type   string
		Events []json.RawMessage
	}
	if err := json.Unmarshal(data, &m); err != nil {
		r.t.Fatal(err)
	}
	switch m.Type {
	case "response", "error":
		r.calls = append(r.calls, "host   "+string(data))
	case "resync", "live":
		r.frames = append(r.frames, string(data))
	case "events":
		for _, e := range m.Events {
			r.frames = append(r.frames, "event "+string(e))
		}
	}
	return m.Type
}

// TestTheWireLooksAsItDid holds a connection from its first message to the end of a
// turn against a golden file.
func TestTheWireLooksAsItDid(t *testing.T) {
	w := newWorld(t, setting{answers: answers(1)})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	r := &record{t: t, names: map[string]string{}, count: map[string]int{}}
	hear := func() []byte {
		_, data, err := p.ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	greet := func(typ string, body any) []byte {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"type":%q,`, typ) + string(data[1:])
		p.raw(text)
		answer := hear()
		r.handshake = append(r.handshake, "client "+text, "host   "+string(answer))
		return answer
	}
	var c protocol.Challenge
	if err := json.Unmarshal(greet("hello", p.hello), &c); err != nil {
		t.Fatal(err)
	}
	tr := &handshake.Transcript{Address: "unix:" + w.socket, Hello: p.hello, Challenge: c}
	greet("connect", protocol.Prove{Proof: handshake.Client([]byte(testToken), tr)})

	call := func(session protocol.SessionID, req protocol.Request) []byte {
		data, err := json.Marshal(protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: session, Request: req})
		if err != nil {
			t.Fatal(err)
		}
		r.calls = append(r.calls, "client "+string(data))
		p.raw(string(data))
		for {
			answer := hear()
			if typ := r.heard(answer); typ == "response" || typ == "error" {
				return answer
			}
		}
	}
	has := func(text string) func() bool {
		return func() bool { return strings.Contains(strings.Join(r.frames, "\n"), text) }
	}
	until := func(f func() bool) {
		for !f() {
			r.heard(hear())
		}
	}
	var project struct{ Data protocol.Project }
	if err := json.Unmarshal(call("", &protocol.RegisterProject{WorkDir: w.project}), &project); err != nil {
		t.Fatal(err)
	}
	id := protocol.NewSessionID(w.now(), rand.Reader)
	call(id, &protocol.CreateSession{ProjectID: project.Data.ProjectID, Meta: protocol.Meta{WorkDir: w.project, Name: "golden"}})
	call(id, &protocol.OpenSession{})
	until(has(`"type":"live"`))
	call(id, &protocol.SendMessage{Content: text("Hi")})
	until(has(`"type":"runtime_end"`))
	call(id, &protocol.CloseSession{})
	p.raw(`{"type":"no_such_request","requestId":"req_00000000000000000000000000"}`)
	until(func() bool { return strings.HasPrefix(r.calls[len(r.calls)-1], `host   {"type":"error"`) })

	part := func(name string, lines []string) txtar.File {
		return txtar.File{Name: name, Data: []byte(r.plain(strings.Join(lines, "\n")) + "\n")}
	}
	got := txtar.Format(&txtar.Archive{Comment: []byte("A connection from its first message to the end of a turn; go test -update writes this.\n"),
		Files: []txtar.File{part("handshake", r.handshake), part("frames", r.frames), part("calls", r.calls)}})
	const golden = "testdata/wire.txtar"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the wire is now\n%s\nnot\n%s", got, want)
	}
}
