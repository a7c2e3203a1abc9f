package tui_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tailScript returns the path of the example of a channel. It is looked at, because go test
// keeps a result until something has changed that the test itself has.
func tailScript(t *testing.T) string {
	path, err := filepath.Abs("../../../examples/channels/tail.py")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAChannelOfTheCommandLinePushesIntoTheSession(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing")
	}
	script := tailScript(t)
	h := newHarness(t, `{"if":{"user":"hello"},"do":[{"text":"Good morning."}]}`, `{"if":{"user":"build is red"},"do":[{"text":"I look at it."}]}`)
	log := filepath.Join(h.Project, "build.log")
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"build": map[string]any{"command": python, "args": []string{script, log}}}})
	if err != nil {
		t.Fatal(err)
	}
	h.WriteUser("mcp.json", string(entry))
	h.Write(log, "")
	s := h.Open("--channels", "server:build,server:missing")
	s.Say("hello")
	s.WaitFor("Good morning.")
	for told := false; !told; { // over the message box a notice goes by itself
		s.Say("/notices")
		s.WaitFor("─ Notices")
		told = strings.Contains(s.Screen(), "server:missing") && strings.Contains(s.Screen(), "server:build")
		s.Keys("Escape")
		s.Wait("the conversation", func(screen string) bool { return !strings.Contains(screen, "─ Notices") })
	}
	h.Write(log, "The build is red.\n")
	s.WaitFor("I look at it.")
}

func TestWhatCameOfAReconnectionIsTold(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing")
	}
	script := tailScript(t)
	h := newHarness(t)
	server := filepath.Join(h.Project, "server.py")
	h.Write(server, "import runpy, sys\nsys.argv = ['tail.py', 'build.log']\nrunpy.run_path("+fmt.Sprintf("%q", script)+", run_name='__main__')\n")
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"build": map[string]any{"command": python, "args": []string{server}}}})
	if err != nil {
		t.Fatal(err)
	}
	h.WriteUser("mcp.json", string(entry))
	h.Write(filepath.Join(h.Project, "build.log"), "")
	s := h.Open()
	s.Say("hello")
	waitAnswers(s, 1)
	s.Say("/mcp reconnect build")
	s.WaitFor("build is connected again, with ")
	h.Write(server, "import sys\nsys.exit('it is broken')\n")
	s.Say("/mcp reconnect build")
	s.WaitFor("build is not connected: ")
}
