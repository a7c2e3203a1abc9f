package demo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/sandbox"
	"scorel/internal/ui/cli/demoproject"
	"scorel/protocol"
)

// world is a folder with the real tools and the transcript of a conversation.
type world struct {
	t        *testing.T
	dir      string
	tools    []tool.Tool
	messages []protocol.Message
	states   []protocol.FileState // what the results in messages say of files
	deny     string               // the tool that is denied
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.start()
	return w
}

// start makes the environment again, as a host that was killed does.
func (w *world) start() {
	opened, err := files.New(files.Config{Root: w.dir, Home: w.dir, Reach: filepath.Join(w.dir, ".scorel")})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(opened.Close)
	w.tools = tool.Bind(tool.All(), tool.Setting{Files: opened, Spawn: sandbox.New(sandbox.Config{}), Environ: []string{"PATH=" + os.Getenv("PATH")}, Window: 200_000},
		tool.Session{Seen: files.NewSeen(w.states), Dir: tool.NewDir(w.dir)})
}

// project writes the demo project with tally changed by the replacements, and
// gives how tally is when it is sound.
func (w *world) project(fault ...string) (sound string) {
	w.t.Helper()
	if err := demoproject.Write(w.dir); err != nil {
		w.t.Fatal(err)
	}
	sound = strings.Replace(w.file("tally"), "then tail -n", "then head -n", 1)
	if sound == w.file("tally") {
		w.t.Fatal("the fault of the project is not where this test looks for it")
	}
	broken := sound
	for i := 0; i+1 < len(fault); i += 2 {
		if strings.Count(broken, fault[i]) != 1 {
			w.t.Fatalf("%q stands %d times in tally", fault[i], strings.Count(broken, fault[i]))
		}
		broken = strings.Replace(broken, fault[i], fault[i+1], 1)
	}
	w.write("tally", broken)
	return sound
}

func (w *world) file(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) write(name, content string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// say sends a prompt and follows the turn to its end, whose text it gives.
func (w *world) say(prompt string) string {
	w.t.Helper()
	w.messages = append(w.messages, protocol.UserText(prompt))
	for range 150 {
		if text, done := w.step(); done {
			return text
		}
	}
	w.t.Fatal("the turn does not end")
	return ""
}

// step takes one answer of the model and runs its calls.
func (w *world) step() (text string, done bool) {
	w.t.Helper()
	m := w.answer()
	w.messages = append(w.messages, m)
	for _, c := range m.Calls() {
		w.run(c)
	}
	return m.PlainText(), len(m.Calls()) == 0
}

// answer asks the model.
func (w *world) answer() protocol.Message {
	w.t.Helper()
	req := model.Request{Kind: model.KindStep, Messages: w.messages}
	for _, t := range w.tools {
		req.Tools = append(req.Tools, model.ToolSpec{Name: t.Spec().Name})
	}
	m := protocol.Message{Role: protocol.RoleAssistant}
	for d, err := range New().Stream(w.t.Context(), req) {
		if err != nil {
			w.t.Fatal(err)
		}
		switch d := d.(type) {
		case model.BlockEnd:
			m.Content = append(m.Content, d.Block)
		case model.Done:
			m.StopReason = d.StopReason
		}
	}
	return m
}

// run carries out a call and records its result.
func (w *world) run(c protocol.Block) {
	w.t.Helper()
	if c.Name == w.deny {
		w.messages = append(w.messages, protocol.ToolError(c.ID, c.Name, "Not run: a person refused it."))
		return
	}
	i := slices.IndexFunc(w.tools, func(t tool.Tool) bool { return t.Spec().Name == c.Name })
	if i < 0 {
		w.t.Fatalf("the model calls %s, which there is not", c.Name)
	}
	call := tool.Call{ID: c.ID, Input: c.Input}
	p, err := w.tools[i].Prepare(context.Background(), call)
	if err != nil {
		w.messages = append(w.messages, protocol.ToolError(c.ID, c.Name, err.Error()))
		return
	}
	defer p.Close()
	r, err := p.Run(w.t.Context(), func(string) {})
	if err != nil {
		w.messages = append(w.messages, protocol.ToolError(c.ID, c.Name, err.Error()))
		return
	}
	if d, ok := r.Details.(protocol.ToolDetails); ok {
		w.states = append(w.states, d.Files...)
	}
	w.messages = append(w.messages, protocol.Message{Role: protocol.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name, Content: r.Content, IsError: r.IsError})
}

// calls counts the calls of a tool in the transcript.
func (w *world) calls(name string) int {
	n := 0
	for _, m := range w.messages {
		for _, c := range m.Calls() {
			if c.Name == name {
				n++
			}
		}
	}
	return n
}

// has checks that a text says all of the parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the answer does not say %q:\n%s", p, text)
		}
	}
}
