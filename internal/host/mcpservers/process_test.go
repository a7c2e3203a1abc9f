package mcpservers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// old is a server without a library that knows nothing of the newest version: it does not
// answer what it does not know, and notes what it was asked in the file asked.
func old() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var c struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &c) != nil {
			continue
		}
		f, err := os.OpenFile("asked", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, c.Method)
		_ = f.Close()
		result := ""
		switch c.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}`
		case "tools/list":
			result = `{"tools":[{"name":"tell","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"told"}]}`
		}
		if result != "" && c.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", c.ID, result)
		}
	}
}

func TestAServerOfAnOlderVersionIsProbedOnceAlsoByTheNextHost(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__old"), calls("mcp__old__tell", `{}`), done, calls("mcp__old__tell", `{}`), done)
	configure(w, entry("old", `,"alwaysLoad":true`))
	for range 2 {
		e := w.Begin(false)
		e.Say("go")
		if got := e.LastResult().PlainText(); got != "told" {
			t.Fatalf("the result is %q", got)
		}
		w.Restart()
	}
	asked := w.ReadAll(filepath.Join(w.Project, "asked"))
	if probes := strings.Count(asked, "server/discover"); probes != 1 || strings.Count(asked, "initialize\n") != 2 {
		t.Errorf("it was asked: %q", asked)
	}
}

func TestServersOfAHostThatWasKilledAreEndedAndThoseOfALivingOneAreNot(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__notes"), calls("mcp__notes__echo", `{"text":"hi"}`), done, calls("mcp__notes__echo", `{"text":"hi"}`), done)
	configure(w, entry("notes", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("go")
	first := e.LastResult().PlainText()
	if problems := w.Host.ReapAbandoned(t.Context()); len(problems) > 0 {
		t.Error(problems)
	}
	e.Say("go on")
	if got := e.LastResult().PlainText(); got != first {
		t.Errorf("the server of a living host was ended: %q, before %q", got, first)
	}
	after := w.Killed()
	if problems := after.Host.ReapAbandoned(t.Context()); len(problems) > 0 {
		t.Error(problems)
	}
	_, pid, _ := strings.Cut(first, "hi ")
	hosttest.Gone(t, pid)
	if left, err := filepath.Glob(filepath.Join(after.Home, ".scorel", "run", "mcp-*")); err != nil || len(left) > 0 {
		t.Errorf("left in the folder of records: %q, %v", left, err)
	}
	w.Close()
	if left, err := filepath.Glob(filepath.Join(w.Home, ".scorel", "run", "mcp-*")); err != nil || len(left) > 0 {
		t.Errorf("left by a host that was closed: %q, %v", left, err)
	}
}

// TestAModelIsToldThatACallMayHaveTakenEffectWhenTheHostWasKilled: the call is not made again.
func TestAModelIsToldThatACallMayHaveTakenEffectWhenTheHostWasKilled(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__bad"), calls("mcp__bad__tool", `{}`), again)
	configure(w, fmt.Sprintf(`"bad":{"command":%q,"env":{%q:"hang at tools/call"},"alwaysLoad":true}`, os.Args[0], asServer))
	e := w.Begin(false)
	e.Send("go")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	after := w.Killed()
	next := after.Open(after.Connect(false), e.ID)
	next.Say("what has happened?")
	bodies := after.Bodies()
	if last := string(bodies[len(bodies)-1]); !strings.Contains(last, "It may have taken effect. Check before repeating.") {
		t.Errorf("the model is told %.2000s", last)
	}
	after.Close()
	w.Close()
	for _, pid := range strings.Fields(w.ReadAll(filepath.Join(w.Project, "pids"))) {
		hosttest.Gone(t, pid)
	}
}
