package hosttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/internal/host"
	"scorel/internal/host/clients"
	"scorel/internal/host/lane/subagents"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bodies returns the bodies of the requests of steps.
func (w *World) Bodies() [][]byte {
	var out [][]byte
	for _, r := range w.Server.Requests() {
		if KindOf(r.Body) == "step" {
			out = append(out, r.Body)
		}
	}
	return out
}

func (w *World) Folder(names ...string) {
	w.T.Helper()
	for _, n := range names {
		if err := os.MkdirAll(filepath.Join(w.Home, n), 0o700); err != nil {
			w.T.Fatal(err)
		}
	}
}

// Check runs the doctor and returns one check.
func (w *World) Check(id string) protocol.DoctorCheck {
	w.T.Helper()
	for deadline := time.Now().Add(Patience); ; {
		rep := Call[*protocol.DoctorReport](w.T, w.Connect(false), "", &protocol.Doctor{WorkDir: w.Project})
		i := slices.IndexFunc(rep.Checks, func(c protocol.DoctorCheck) bool { return c.ID == id })
		if i < 0 {
			w.T.Fatalf("there is no check %s in %+v", id, rep)
		}
		if c := rep.Checks[i]; !strings.Contains(c.Text, "did not end within") || time.Now().After(deadline) {
			return c
		} // else much else runs
	}
}

func (w *World) Finds(what, id, state, text, advice string) {
	w.T.Helper()
	c := w.Check(id)
	if c.State != state || !strings.Contains(c.Text, text) || !strings.Contains(c.Advice, advice) || (state != "ok") != (c.Advice != "") {
		w.T.Errorf("%s: %+v, want %s with %q and %q", what, c, state, text, advice)
	}
}

// Stored returns the messages of a log in its order.
func (w *World) Stored(id protocol.SessionID) []protocol.Message {
	var out []protocol.Message
	for _, e := range w.Log(id) {
		if m, ok := e.Message(); ok {
			out = append(out, m)
		}
	}
	return out
}

// Pair puts an entry on the device's list, as pairing will.
func (w *World) Pair(n byte, label string, grant protocol.Grant) clients.Entry {
	w.T.Helper()
	e, err := clients.New(disk.OS(), filepath.Join(w.Home, ".scorel", "entries.json"), time.Now).Add(bytes.Repeat([]byte{n}, 32), label, grant)
	if err != nil {
		w.T.Fatal(err)
	}
	return e
}

// ComeIn connects an entry with its key, as a server does that has had its proof.
func (w *World) ComeIn(e clients.Entry, grant protocol.Grant) (*host.Conn, error) {
	return w.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: e.ClientID, ClientName: e.Label,
		PublicKey: e.PublicKey}, grant)
}

func (w *World) Entered(e clients.Entry, grant protocol.Grant) (*client.Client, *host.Conn) {
	w.T.Helper()
	conn, err := w.ComeIn(e, grant)
	if err != nil {
		w.T.Fatal(err)
	}
	c := client.New(conn)
	w.T.Cleanup(func() { _ = c.Close() })
	return c, conn
}

// Typescript copies examples of one file to where the user's extensions are.
func (w *World) Typescript(names ...string) {
	w.T.Helper()
	for _, name := range names {
		w.Install(name, filepath.Join("..", "..", "..", "examples", "extensions", name+".ts"))
	}
}

// Example copies an extension of the examples to where the user's are.
func (w *World) Example(name string) {
	w.T.Helper()
	from := filepath.Join("..", "..", "..", "examples", "extensions", name)
	if err := os.CopyFS(filepath.Join(w.Home, ".scorel", "extensions", name), os.DirFS(from)); err != nil {
		w.T.Fatal(err)
	}
}

// Ts writes an extension of the user in TypeScript.
func (w *World) Ts(id, source string) {
	w.T.Helper()
	w.Write(filepath.Join(w.Home, ".scorel", "extensions", id+".ts"), source)
}

// TimesAsked returns how often a hook was run that adds a line to a file of the project.
func (w *World) TimesAsked() int {
	data, _ := os.ReadFile(filepath.Join(w.Project, "asked"))
	return strings.Count(string(data), "\n")
}

// Left names the files of a session but for its lock.
func (w *World) Left(id protocol.SessionID) string {
	w.T.Helper()
	names, err := filepath.Glob(filepath.Join(w.Home, ".scorel", "sessions", string(id)+"*"))
	if err != nil {
		w.T.Fatal(err)
	}
	var out []string
	for _, n := range names {
		if !strings.HasSuffix(n, ".lock") {
			out = append(out, filepath.Base(n))
		}
	}
	return strings.Join(out, " ")
}

// Endless writes the log of a conversation of 2 MB and returns its id.
func (w *World) Endless() protocol.SessionID {
	w.T.Helper()
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	log, err := protocol.Header{Version: 1, SessionID: id, Meta: protocol.Meta{WorkDir: w.Project}}.AppendLine(nil)
	if err != nil {
		w.T.Fatal(err)
	}
	leaf := protocol.EventID("")
	for i := range 200 {
		m := protocol.UserText("What comes next?")
		if i%2 == 1 {
			m = protocol.Message{Role: protocol.RoleAssistant, Provider: "p", Model: "m", StopReason: protocol.StopEndTurn,
				Content: []protocol.Block{protocol.Text(strings.Repeat("and so on ", 2000))}}
		}
		ev := protocol.NewEvent(&protocol.MessageBody{Message: m})
		ev.ID, ev.ParentID, ev.Seq, ev.SessionID, ev.ClientID = protocol.NewEventID(rand.Reader), leaf, protocol.Seq(i+1), id, protocol.HostClient
		if log, err = ev.AppendLine(append(log, '\n')); err != nil {
			w.T.Fatal(err)
		}
		leaf = ev.ID
	}
	w.Write(filepath.Join(w.Home, ".scorel", "sessions", string(id)+".jsonl"), string(log)+"\n")
	return id
}

// Told returns the notes that are in the log, oldest first.
func (w *World) Told(id protocol.SessionID) []string {
	var out []string
	for _, e := range w.Log(id) {
		if b, ok := e.Body.(*protocol.HarnessItem); ok && b.Item.Kind == protocol.ItemMemory {
			out = append(out, b.Item.Content)
		}
	}
	return out
}

func (w *World) LastRequest() string {
	all := w.Server.Requests()
	return string(all[len(all)-1].Body)
}

// Lines returns how many lines a file of the project has; none when there is no file.
func (w *World) Lines(name string) int { return strings.Count(w.Read(name), "\n") }

// PendingFiles are the names in the folder pending, but for marks of queues.
func (w *World) PendingFiles() map[string]string {
	w.T.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(w.Home, ".scorel", "pending"))
	if err != nil && !os.IsNotExist(err) {
		w.T.Fatal(err)
	}
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "pending", e.Name()))
		if err != nil && !os.IsNotExist(err) {
			w.T.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// Kept waits until a file in the folder pending has a text.
func (w *World) Kept(name, text string) {
	w.T.Helper()
	for deadline := time.Now().Add(Patience); !strings.Contains(w.PendingFiles()[name], text); {
		if time.Now().After(deadline) {
			w.T.Fatalf("%s has no %q: %q", name, text, w.PendingFiles())
		}
		<-time.After(2 * time.Millisecond)
	}
}

// Mark returns what the file says that marks a session's queue, "" without one.
func (w *World) Mark(id protocol.SessionID) string {
	data, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "pending", string(id)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Plant makes a program that answers a question for its version, and tries to
// leave a file in the folders.
func (w *World) Plant(name, version string, marks ...string) {
	w.T.Helper()
	script := "#!/bin/sh\n"
	for _, mark := range marks {
		script += "{ echo x > '" + filepath.Join(mark, "ran") + "'; } 2>/dev/null\n"
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(script+"echo '"+version+"'\n"), 0o755); err != nil {
		w.T.Fatal(err)
	}
}

func (w *World) Ran(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "ran"))
	return err == nil
}

// Planted closes the host, puts marks into the log of a session, starts another and returns
// the marks.
func (w *World) Planted(id protocol.SessionID) []string {
	w.T.Helper()
	if err := w.Host.Close(); err != nil {
		w.T.Fatal(err)
	}
	name := filepath.Join(w.Home, ".scorel", "sessions", string(id)+".jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		w.T.Fatal(err)
	}
	var marks []string
	mark := func(what string) string {
		m := fmt.Sprintf("ONLYPEOPLE-%s-%d-%d", what, len(data), len(marks))
		marks = append(marks, m)
		return m
	}
	var out bytes.Buffer
	results, last := 0, protocol.Event{}
	for line := range bytes.Lines(data) {
		if e, err := protocol.ParseEvent(bytes.TrimSpace(line)); err == nil {
			if m, ok := e.Message(); ok && m.Role == protocol.RoleToolResult && m.Process == nil {
				process := fmt.Sprintf(`"process":{"latest":{"message":%q},"events":[{"operationId":"tool-c1","message":%q,"detail":%q,"stage":%q,"payload":{"k":%q}}],"logRef":{"operationId":%q}}`,
					mark("message"), mark("message"), mark("detail"), mark("stage"), mark("payload"), mark("operation"))
				details := fmt.Sprintf(`"details":{"diff":%q,"fresh":%q`, mark("diff"), mark("details"))
				old := []byte(`"details":{`)
				if !bytes.Contains(line, old) {
					w.T.Fatalf("the result has no details: %s", line)
				}
				line = bytes.Replace(line, old, []byte(process+","+details+","), 1)
				results++
			}
			last = e
		}
		out.Write(line)
	}
	if results == 0 {
		w.T.Fatal("there is no result to be marked")
	}
	seq, parent := last.Seq, last.ID
	if last.Class() != protocol.Conversation {
		parent = last.ParentID
	}
	for _, body := range []protocol.Body{
		&protocol.Custom{Kind: "stack", Data: json.RawMessage(fmt.Sprintf(`{"k":%q}`, mark("custom")))},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginTool, Content: "It ended.", Visibility: protocol.VisibilityCompact,
			Data: json.RawMessage(fmt.Sprintf(`{"taskId":"task_1","state":"exited","process":{"latest":{"message":%q}}}`, mark("task")))}},
		&protocol.Label{TargetEventID: parent, Label: new(mark("label"))},
	} {
		seq++
		e := protocol.NewEvent(body)
		e.ID, e.ParentID, e.Seq, e.SessionID, e.ClientID, e.TS = protocol.NewEventID(w.Config.Rand), parent, seq, id, protocol.HostClient, 1
		line, err := e.AppendLine(nil)
		if err != nil {
			w.T.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	// Without checksums it is a log as an older version wrote it.
	bare := regexp.MustCompile(`,"prev":[0-9]+|,"crc":"[0-9a-f]{8}"`).ReplaceAll(out.Bytes(), nil)
	if err := os.WriteFile(name, bare, 0o600); err != nil {
		w.T.Fatal(err)
	}
	w.Start()
	return marks
}

// Busy begins a turn whose first tool runs until the file "go" is there.
func (w *World) Busy() (*Entry, protocol.TurnID) {
	w.T.Helper()
	e := w.Begin(false)
	turn := e.Send("run")
	e.Until(OfType(protocol.TypeToolExecutionStart))
	return e, turn
}

// DamagedSession writes a session whose damaged end may have moved the leaf, and returns
// the last of its events that is whole.
func (w *World) DamagedSession() (protocol.SessionID, protocol.EventID) {
	w.T.Helper()
	id, events := w.Written(10, 10)
	name := filepath.Join(w.Home, ".scorel", "sessions", string(id)+".jsonl")
	w.Write(name, string(w.ReadAll(name))+"{\"type\":\"rewind\",\"id\":\"evt_\x00\x00\n{\"type\":\"mess\x00\n")
	return id, events[1].ID
}

func (w *World) Chmod(name string, mode os.FileMode) {
	w.T.Helper()
	if err := os.Chmod(filepath.Join(w.Project, name), mode); err != nil {
		w.T.Fatal(err)
	}
}

// Spoil damages the n-th line of the session's log that has a text: inside a string, or so
// that nothing of it can be read.
func (w *World) Spoil(e *Entry, text string, n int, all bool) {
	w.T.Helper()
	name := filepath.Join(w.Home, ".scorel", "sessions", string(e.ID)+".jsonl")
	lines := bytes.Split([]byte(w.ReadAll(name)), []byte("\n"))
	for _, line := range lines {
		if !bytes.Contains(line, []byte(text)) {
			continue
		}
		if n--; n == 0 {
			const key = `"toolCallId":"`
			line[bytes.Index(line, []byte(key))+len(key)] = 1
			if all {
				line[0] = 'x'
			}
			w.Write(name, string(bytes.Join(lines, []byte("\n"))))
			return
		}
	}
	w.T.Fatalf("there is no such line: %s", text)
}

// User writes a file below ~/.scorel.
func (w *World) User(name, text string) string {
	path := filepath.Join(w.Home, ".scorel", name)
	w.Write(path, text)
	return path
}

// Asked returns the bodies of the requests to the model from the nth on.
func (w *World) Asked(from int) (out []string) {
	for _, r := range w.Server.Requests()[from:] {
		out = append(out, string(r.Body))
	}
	return out
}

// Install copies an extension of one file to where the user's are.
func (w *World) Install(id, file string) {
	w.T.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Ts(id, string(source))
}

// Appended appends events to the log of a session that no host has open.
func (w *World) Appended(id protocol.SessionID, bodies ...protocol.Body) {
	w.T.Helper()
	name := filepath.Join(w.Home, ".scorel", "sessions", string(id)+".jsonl")
	log := string(w.ReadAll(name))
	parent, seq := protocol.EventID(""), protocol.Seq(0)
	for _, e := range w.Log(id) {
		seq = e.Seq
		if !e.Control {
			parent = e.ID
		}
	}
	for _, b := range bodies {
		seq++
		e := protocol.NewEvent(b)
		e.ID, e.ParentID, e.Seq, e.SessionID, e.ClientID, e.TS = protocol.NewEventID(rand.Reader), parent, seq, id, protocol.HostClient, time.Now().UnixMilli()
		e, err := e.Seal()
		if err != nil {
			w.T.Fatal(err)
		}
		log += string(e.Raw()) + "\n"
		parent = e.ID
	}
	w.Write(name, log)
}

// Close ends the world's host.
func (w *World) Close() {
	w.T.Helper()
	if err := w.Host.Close(); err != nil {
		w.T.Fatalf("close the host: %v", err)
	}
}

// Nth returns the id of the message with a text.
func (w *World) Nth(id protocol.SessionID, text string) protocol.EventID {
	w.T.Helper()
	for _, e := range w.Log(id) {
		if m, ok := e.Message(); ok && m.PlainText() == text {
			return e.ID
		}
	}
	w.T.Fatalf("no message says %s", text)
	return ""
}

// Runs returns what the log tells of sub-agents.
func (w *World) Runs(id protocol.SessionID) (out []subagents.Run) {
	w.T.Helper()
	for _, e := range w.Log(id) {
		b, ok := e.Body.(*protocol.Custom)
		var run subagents.Run
		if ok && b.Kind == subagents.Kind {
			if err := json.Unmarshal(b.Data, &run); err != nil {
				w.T.Fatal(err)
			}
			out = append(out, run)
		}
	}
	return out
}

func (w *World) Exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.Project, name))
	return err == nil
}

// Eventually waits for a condition that no event tells of.
func (w *World) Eventually(what string, is func() bool) {
	w.T.Helper()
	harness.Until(w.T, what, is)
}

// until waits until a file of the project holds a line, and returns that.
func (w *World) Line(name string) string {
	w.T.Helper()
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); {
		if data, err := os.ReadFile(filepath.Join(w.Project, name)); err == nil && strings.HasSuffix(string(data), "\n") {
			return strings.TrimSpace(string(data))
		}
		<-time.After(2 * time.Millisecond)
	}
	w.T.Fatalf("%s is not written", name)
	return ""
}

// Notices returns the harness items about background commands in the log.
func (w *World) Notices(id protocol.SessionID) []protocol.Event {
	var out []protocol.Event
	for _, e := range w.Log(id) {
		if b, ok := e.Body.(*protocol.HarnessItem); ok && b.Item.Origin == protocol.OriginTool && b.Item.Kind == protocol.ItemRuntimeNotice {
			out = append(out, e)
		}
	}
	return out
}

// Ended lets the command of serve end and waits until the host knows.
func (w *World) Ended(e *Entry) {
	w.T.Helper()
	w.File("go", "")
	for Call[*protocol.TaskList](w.T, e.C, e.ID, &protocol.ListTasks{}).Tasks[0].State == protocol.TaskRunning {
		<-time.After(2 * time.Millisecond)
	}
}

// Names counts the events that name the session, in its log.
func (w *World) Names(id protocol.SessionID) (out []string) {
	for _, e := range w.Log(id) {
		if b, ok := e.Body.(*protocol.SessionInfo); ok && b.Changes.Name != nil {
			out = append(out, *b.Changes.Name)
		}
	}
	return out
}

// stored lists the files in the folder of payloads, and in that of what is to be removed.
func (w *World) FolderOf(dir string) []string {
	w.T.Helper()
	files, err := os.ReadDir(filepath.Join(w.Home, ".scorel", dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.T.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Name())
	}
	return out
}

func (w *World) Registered(c *client.Client) *protocol.Project {
	w.T.Helper()
	return Call[*protocol.Project](w.T, c, "", &protocol.RegisterProject{WorkDir: w.Project})
}

// Trust trusts the world's project as it is.
func (w *World) Trust(c *client.Client) *protocol.ProjectTrust {
	w.T.Helper()
	id := w.Registered(c).ProjectID
	r := Call[*protocol.TrustReport](w.T, c, "", &protocol.GetTrust{ProjectID: id})
	return Call[*protocol.ProjectTrust](w.T, c, "", &protocol.TrustProject{ProjectID: id, Hash: r.Hash, Trusted: true})
}

// Values returns what a key is set to, with where it comes from.
func (w *World) Values(c *client.Client, key string) string {
	w.T.Helper()
	var out []string
	for _, e := range Call[*protocol.ConfigReport](w.T, c, "", &protocol.GetConfig{WorkDir: w.Project}).Entries {
		if e.Key == key {
			out = append(out, e.Value+" "+filepath.Base(e.Source))
		}
	}
	return strings.Join(out, "|")
}
