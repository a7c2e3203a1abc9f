package hosttest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

// FewTools are the tools of these tests, by name: what all tools take of the
// window changes with every tool that is added.
func FewTools() host.Overrides {
	return host.Overrides{Preset: "Bash,Edit,Glob,Grep,Read,TodoWrite,Write"}
}

// Long fills the smaller window of these tests, so that the next call compacts.
const Long = `{"if":{"user":"^fill"},"do":[{"text":"many words here ","times":900}]}`

// Daily returns the daily notes of the project.
func (c *Wire) Daily(id protocol.SessionID) (out []protocol.MemoryFile) {
	c.W.T.Helper()
	for _, f := range c.Do(id, &protocol.GetMemory{}).(*protocol.MemoryView).Files {
		if f.Scope == "daily" && f.Bytes > 0 {
			out = append(out, f)
		}
	}
	return out
}

// blocks returns what the model of a request reads, in order: the system prompt,
// the tools, and each block of each message, without marks for the cache.
func blocks(t *testing.T, body []byte) []string {
	t.Helper()
	var r struct {
		System   json.RawMessage
		Tools    json.RawMessage
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCalls  json.RawMessage `json:"tool_calls"`
			ToolCallID string          `json:"tool_call_id"`
		}
		// The names of Responses.
		Instructions string
		Input        []map[string]any
		// Google's names.
		SystemInstruction json.RawMessage
		Contents          []struct {
			Role  string
			Parts json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	parts := func(raw json.RawMessage) []string {
		var list []map[string]any
		if json.Unmarshal(raw, &list) != nil {
			return []string{string(raw)}
		}
		var out []string
		for _, b := range list {
			delete(b, "cache_control")
			line, _ := json.Marshal(b)
			out = append(out, string(line))
		}
		return out
	}
	out := append(parts(r.System), parts(r.Tools)...)
	if len(r.SystemInstruction) > 0 {
		out = append(parts(r.SystemInstruction), parts(r.Tools)...)
	}
	if r.Instructions != "" {
		out = append([]string{r.Instructions}, parts(r.Tools)...)
	}
	for _, item := range r.Input {
		line, _ := json.Marshal(item)
		out = append(out, string(line))
	}
	for i, c := range r.Contents {
		for _, p := range parts(c.Parts) {
			out = append(out, fmt.Sprintf("%d %s: %s", i, c.Role, p))
		}
	}
	for _, m := range r.Messages {
		for _, p := range parts(m.Content) {
			out = append(out, m.Role+m.ToolCallID+": "+p)
		}
		if len(m.ToolCalls) > 0 {
			out = append(out, m.Role+": "+string(m.ToolCalls))
		}
	}
	return out
}

// Extends fails when a request does not begin with all that another holds.
func Extends(t *testing.T, what string, before, after []byte) {
	t.Helper()
	b, a := blocks(t, before), blocks(t, after)
	if len(a) <= len(b) {
		t.Errorf("%s: %d blocks follow %d", what, len(a), len(b))
		return
	}
	for i := range b {
		if a[i] != b[i] {
			t.Errorf("%s: block %d was\n%.300s\nand is\n%.300s", what, i, b[i], a[i])
			return
		}
	}
}

// Bare is a client of a host with nothing in it. Both end with the test, or with
// the bubble that it runs in.
func Bare(t testing.TB, home string) *client.Client {
	t.Helper()
	h, err := host.New(host.Config{Dir: filepath.Join(home, ".scorel"), UserHome: home, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	conn, err := h.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf([]byte("x"))}, protocol.GrantControl)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(conn)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Labelled returns an event of a session that a label can hang on.
func Labelled(c *Wire, id protocol.SessionID) protocol.EventID {
	c.W.T.Helper()
	name := "n"
	c.Do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
	events := c.Do(id, &protocol.GetTree{}).(*protocol.Events).Events
	return events[len(events)-1].ID
}

// IsOpen reports whether the host has a session open.
func (c *Wire) IsOpen(id protocol.SessionID) bool {
	c.W.T.Helper()
	synctest.Wait()
	for _, s := range c.Do("", &protocol.GetStatus{}).(*protocol.Status).Sessions {
		if s.SessionID == id {
			return true
		}
	}
	return false
}

// Exported returns the bytes of an export.
func Exported(t *testing.T, c *client.Client, id protocol.SessionID, format string) []byte {
	t.Helper()
	ref := Call[*protocol.BlobRef](t, c, id, &protocol.ExportSession{Format: format})
	var out []byte
	for int64(len(out)) < ref.Size {
		p := Call[*protocol.BlobPart](t, c, id, &protocol.GetBlob{SHA256: ref.SHA256, Offset: int64(len(out)), Length: 48 << 10})
		out = append(out, p.Data...)
	}
	return out
}

// Put stores a payload in one part.
func Put(t *testing.T, c *client.Client, data []byte) string {
	t.Helper()
	return Call[*protocol.BlobRef](t, c, "", &protocol.PutBlob{UploadID: "u", Data: data, Last: true}).SHA256
}

const Tried = `{"if":{"kind":"compact"},"again":true,"do":[{"text":"They tried the red door."}]}`

// Repeat sends a call again at the host that comes after a kill, and says what is there.
func (c *Caller) Repeat(sent protocol.Call) (protocol.Reply, *World) {
	c.W.T.Helper()
	after := c.W.Killed()
	d := &Caller{W: after, Key: c.Key}
	d.Connect()
	sent.Repeat = true
	return d.Call(sent), after
}

func (r *reports) Said(what string) bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return slices.ContainsFunc(r.List, func(s string) bool { return strings.Contains(s, what) })
}

const RunTwice = `{"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`

// Choice returns the index of the suggestion of a scope.
func Choice(t *testing.T, q protocol.PermissionRequest, scope string) int {
	t.Helper()
	i := slices.IndexFunc(q.Suggestions, func(s protocol.Suggestion) bool { return s.Scope == scope })
	if i < 0 {
		t.Fatalf("the question offers no %q: %+v", scope, q.Suggestions)
	}
	return i
}

func Text(s string) []protocol.Block { return []protocol.Block{protocol.Text(s)} }

const Wait = `{"if":{"user":"^run$"},"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do :; done; echo ran"}}]}`

func Allowed() Setting { return Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}} }

// Between returns what stands after from, up to to.
func Between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func NewID() protocol.SessionID { return protocol.NewSessionID(time.Now(), rand.Reader) }

// AgentCall is a line with which a session starts agents, one for each prompt.
func AgentCall(when string, more string, prompts ...string) string {
	var do []string
	for i, p := range prompts {
		do = append(do, fmt.Sprintf(`{"call":"Task","id":"t%d","input":{"description":"piece %d","prompt":%q%s}}`, i+1, i+1, p, more))
	}
	return fmt.Sprintf(`{"if":{"user":%q},"do":[%s]}`, when, strings.Join(do, ","))
}

// Shell is a line with which an agent runs a command, and answer one that answers a
// result.
func Shell(when, id, command string) string {
	return fmt.Sprintf(`{"if":{"user":%q},"do":[{"call":"Bash","id":%q,"input":{"command":%q}}]}`, when, id, command)
}

func Answer(result, text string) string {
	return fmt.Sprintf(`{"if":{"result":%q},"do":[{"text":%q}]}`, result, text)
}

func AllowBash() host.Overrides { return host.Overrides{Allow: []string{"Bash"}} }

// Gone waits until a process has ended.
func Gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil || n < 2 {
		t.Fatalf("%q is no process", pid)
	}
	for deadline := time.Now().Add(Patience); syscall.Kill(n, 0) == nil; {
		if stat, _ := os.ReadFile("/proc/" + pid + "/stat"); strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s still runs", pid)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// Serve starts a command that writes its pid and runs until a file go is there,
// with a grandchild that writes its own and does not hold the output.
const Serve = `{"do":[{"call":"Bash","id":"c1","input":{"command":"(echo $BASHPID > inner; exec sleep 1000 >/dev/null 2>&1) & echo $$ > outer; echo up; until [ -e go ]; do sleep 0.01; done; echo bye; exit 3","run_in_background":true}}]}`

// Has reports whether the diagnostics of a session name something.
func (r *reports) Has(text string) bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return strings.Contains(strings.Join(r.List, "\n"), text)
}
