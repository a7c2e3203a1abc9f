package mcpservers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// published returns Node and the program of an MCP server of the npm registry, which
// .ci/run installs. It names what is missing.
func published(t *testing.T, name string) (node, program string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node is missing")
	}
	program, err = filepath.Abs("testdata/servers/node_modules/@modelcontextprotocol/" + name + "/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skipf("the npm package @modelcontextprotocol/%s is missing; run: npm ci --prefix internal/host/mcpservers/testdata/servers", name)
	}
	return node, program
}

// listen starts server-everything with a transport, and returns its port.
func listen(t *testing.T, node, program, transport string) int {
	t.Helper()
	for range 5 { // somebody else may take the port in between
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), node, program, transport)
		c.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
		said, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines, listens := bufio.NewScanner(said), false
		for !listens && lines.Scan() {
			listens = strings.Contains(lines.Text(), strconv.Itoa(port)) && !strings.Contains(lines.Text(), "EADDRINUSE")
		}
		done := make(chan struct{})
		go func() { // ends with the process
			defer close(done)
			_, _ = io.Copy(io.Discard, said) // it must not wait for a reader
			_ = c.Wait()                     // it is killed
		}()
		t.Cleanup(func() {
			_ = c.Process.Kill() // it may have ended
			<-done
		})
		if listens {
			return port
		}
	}
	t.Fatal("server-everything does not listen")
	return 0
}

// TestAServerThatUsesTheWholeProtocolIsUsed: server-everything over each of its transports.
func TestAServerThatUsesTheWholeProtocolIsUsed(t *testing.T) {
	for _, transport := range []string{"stdio", "sse", "streamableHttp"} {
		t.Run(transport, func(t *testing.T) {
			node, program := published(t, "server-everything")
			steps := []struct{ tool, input, want string }{
				{"echo", `{"message":"hi"}`, "Echo: hi"},
				{"get-sum", `{"a":2,"b":3}`, "The sum of 2 and 3 is 5."},
				{"get-sum", `{"a":"two"}`, "a"}, // the schema refuses it
				{"trigger-long-running-operation", `{"duration":0.03,"steps":3}`, "Long running operation completed."},
				{"get-structured-content", `{"location":"Chicago"}`, `"humidity":82`},
				{"get-tiny-image", `{}`, "The image above is the MCP logo."},
				{"get-annotated-message", `{"messageType":"error","includeImage":false}`, "Error: Operation failed"},
				{"get-roots-list", `{}`, "workspace"},
				{"trigger-elicitation-request", `{}`, "- Name: Ada"},
				{"trigger-elicitation-request", `{}`, "User declined"},
				{"trigger-sampling-request", `{"prompt":"a haiku"}`, "the user does not allow this completion"},
			}
			var lines []string
			for i, s := range steps {
				lines = append(lines, fmt.Sprintf(`{"do":[{"call":"mcp__every__%s","id":"c%d","input":%s}],"stop":"tool_use"}`, s.tool, i, s.input), done)
			}
			setting := allowed("mcp__every")
			setting.Attended, setting.Tables = true, auxiliary
			w := hosttest.New(t, setting, append(lines, again)...)
			reached := fmt.Sprintf(`"command":%q,"args":[%q,"stdio"]`, node, program)
			switch transport {
			case "sse":
				reached = fmt.Sprintf(`"type":"sse","url":"http://127.0.0.1:%d/sse"`, listen(t, node, program, transport))
			case "streamableHttp":
				reached = fmt.Sprintf(`"type":"http","url":"http://127.0.0.1:%d/mcp"`, listen(t, node, program, transport))
			}
			configure(w, `"every":{`+reached+`,"alwaysLoad":true,"sampling":true}`)
			e := w.Begin(true)
			answers := []string{`{"name":"Ada"}`, `false`, `false`}
			for i, s := range steps {
				e.Events = nil
				e.Send("go")
				if strings.HasPrefix(s.tool, "trigger-e") || strings.HasPrefix(s.tool, "trigger-s") {
					d := e.Dialog()
					if d.Data.Source != "MCP server every" {
						t.Errorf("%+v", d.Data)
					}
					hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(answers[0])})
					answers = answers[1:]
				}
				e.End()
				m := e.LastResult()
				if got := m.PlainText(); !strings.Contains(got, s.want) || m.IsError != (i == 2) && s.tool != "trigger-sampling-request" {
					t.Errorf("%s: %q lacks %q", s.tool, got, s.want)
				}
				switch s.tool {
				case "trigger-long-running-operation":
					if len(e.Processes()) == 0 {
						t.Error("nothing is told of a call that tells of itself")
					}
				case "get-tiny-image":
					if !strings.Contains(m.PlainText(), "[a picture, image/png, 4033 bytes, cannot be shown: it is damaged") { // and so it is
						t.Errorf("%+v", m.Content)
					}
				}
			}
			if got := fmt.Sprint(prompts(t, e)); !strings.Contains(got, "mcp__every__simple-prompt") || !strings.Contains(got, "mcp__every__args-prompt") {
				t.Errorf("its prompts are %s", got)
			}
			e.Command("mcp__every__args-prompt", "Oslo")
			e.End()
			if said := e.Said(); !strings.Contains(said[len(said)-1], "What's weather in Oslo?") {
				t.Errorf("the prompt is %q", said[len(said)-1])
			}
			e.Say("what of @every:demo://resource/dynamic/text/7?")
			if said := e.Said(); !strings.Contains(said[len(said)-1], "Resource 7: This is a plaintext resource") {
				t.Errorf("the message is %q", said[len(said)-1])
			}
		})
	}
}

// TestAServerForFilesStaysInTheWorkspace: server-filesystem takes the workspace, which it is
// told as a root, for the folder of its arguments.
func TestAServerForFilesStaysInTheWorkspace(t *testing.T) {
	node, program := published(t, "server-filesystem")
	steps := []struct{ tool, input, want string }{
		{"write_file", `{"path":"a.txt","content":"the first line"}`, "Successfully wrote"},
		{"read_text_file", `{"path":"a.txt"}`, "the first line"},
		{"read_text_file", `{"path":"/etc/hostname"}`, "Access denied"},
		{"move_file", `{"source":"a.txt","destination":"b.txt"}`, `There is no tool named "mcp__files__move_file"`},
	}
	// It asks for the root when it has been told that all is ready, and until it has the answer
	// the folder of its arguments counts.
	lines := []string{`{"again":true,"if":{"user":"where"},"do":[{"call":"mcp__files__list_allowed_directories","input":{}}],"stop":"tool_use"}`,
		`{"again":true,"if":{"result":"Allowed directories"},"do":[{"text":"there"}]}`}
	for i, s := range steps {
		lines = append(lines, fmt.Sprintf(`{"do":[{"call":"mcp__files__%s","id":"c%d","input":%s}],"stop":"tool_use"}`, s.tool, i, s.input), done)
	}
	w := hosttest.New(t, allowed("mcp__files"), lines...)
	configure(w, fmt.Sprintf(`"files":{"command":%q,"args":[%q,%q],"alwaysLoad":true,"denyTools":["move_*"]}`, node, program, t.TempDir()))
	e := w.Begin(false)
	for e.Say("where"); !strings.Contains(e.LastResult().PlainText(), w.Project); e.Say("where") {
		if m := e.LastResult(); m.IsError || t.Context().Err() != nil {
			t.Fatalf("it says %q", m.PlainText())
		}
	}
	for i, s := range steps {
		e.Say("go")
		if m := e.LastResult(); !strings.Contains(m.PlainText(), s.want) || m.IsError != (i >= 2) {
			t.Errorf("%s: %q lacks %q", s.tool, m.PlainText(), s.want)
		}
	}
}

// TestAServerInPythonIsUsed: one of a few lines, without a library.
func TestAServerInPythonIsUsed(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing")
	}
	program, err := filepath.Abs("testdata/servers/notes.py")
	if err != nil {
		t.Fatal(err)
	}
	w := hosttest.New(t, allowed("mcp__notes"), calls("mcp__notes__add", `{"text":"buy milk"}`), again)
	configure(w, fmt.Sprintf(`"notes":{"command":%q,"args":[%q],"alwaysLoad":true}`, python, program))
	e := w.Begin(false)
	e.Say("go")
	if got := e.LastResult().PlainText(); got != "1 notes" {
		t.Errorf("the result is %q", got)
	}
	e.Command("mcp__notes__sum-up", "French")
	e.End()
	e.Say("what of @notes:notes://all?")
	said := strings.Join(e.Said(), "\n")
	for _, want := range []string{"Sum up the notes in French.", "buy milk"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
}
