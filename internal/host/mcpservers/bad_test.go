package mcpservers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// misbehave is a server of an older version without a library, which does something at a
// method that no server should. It notes its processes in the file pids.
func misbehave(how, at string) {
	note(os.Getpid())
	switch how {
	case "stay":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	case "fork":
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			panic(err)
		}
		note(child.Process.Pid)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var c struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor string `json:"cursor"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &c) != nil || c.ID == nil {
			continue
		}
		if c.Method == at {
			switch how {
			case "hang":
				continue
			case "exit":
				os.Exit(7)
			case "fork": // and leave
				os.Exit(0)
			case "half":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"resu`, c.ID)
				os.Exit(0)
			case "large":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`+"\n", c.ID, strings.Repeat("x", 17<<20))
				continue
			case "flood":
				for range 10_000 {
					fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				}
			}
		}
		next := ""
		if how == "cycle" {
			next = `,"nextCursor":"` + map[string]string{"": "a", "a": "b", "b": "a"}[c.Params.Cursor] + `"`
		}
		answer, ok := map[string]string{
			"initialize": `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"bad","version":"0"}}`,
			"tools/list": `"result":{"tools":[{"name":"tool` + c.Params.Cursor + `","inputSchema":{"type":"object","properties":{"text":{"type":"string","pattern":"(a+)+$"}}}}]` + next + `}`,
			"tools/call": `"result":{"content":[{"type":"text","text":"called"}]}`,
		}[c.Method]
		if !ok {
			answer = `"error":{"code":-32601,"message":"method not found"}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", c.ID, answer)
	}
	if how == "stay" || at == "close" && how == "hang" {
		select {} // its input has ended
	}
}

func note(pid int) {
	f, err := os.OpenFile("pids", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, pid)
}

// descriptors counts what this process has open; -1 where the system does not say.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(list)
}

// TestASessionGoesOnBesideABadServer: whatever a server does and when, the turn ends and the
// next one too, a good server is used, people are told at most once, and of the bad one no
// process, goroutine (see Main) or descriptor is left.
func TestASessionGoesOnBesideABadServer(t *testing.T) {
	const called, unknown, none = "called", "whether the call took effect is not known", "There is no tool named"
	for behaviour, c := range map[string]struct {
		result, notice string
		late           bool   // nothing waits for it: a connection has 30 s, and a list a minute
		input          string // of the call
	}{
		"hang at server/discover": {result: called},
		"exit at server/discover": {result: called},
		"hang at initialize":      {late: true},
		"exit at initialize":      {result: none, notice: "its process ended with status 7 before it answered"},
		"half at initialize":      {result: none, notice: "its process ended with status 0 before it answered"},
		"hang at tools/list":      {late: true},
		"exit at tools/list":      {result: none, notice: "The MCP server bad"},
		"half at tools/list":      {result: none, notice: "The MCP server bad"},
		"large at tools/list":     {result: none, notice: "The MCP server bad"},
		"cycle at nothing":        {result: called, notice: "page"},
		"hang at tools/call":      {result: "it has told nothing for 400ms; " + unknown},
		"exit at tools/call":      {result: unknown},
		"half at tools/call":      {result: unknown},
		"large at tools/call":     {result: unknown},
		"flood at tools/call":     {result: called},
		"fork at tools/call":      {result: unknown},
		"hang at close":           {result: called},
		"stay at close":           {result: called},
		"pattern at nothing":      {result: "pattern", input: `{"text":"` + strings.Repeat("a", 50_000) + `!"}`},
	} {
		t.Run(behaviour, func(t *testing.T) {
			open := descriptors()
			t.Run("session", func(t *testing.T) {
				input := c.input
				if input == "" {
					input = `{}`
				}
				first := calls("mcp__bad__tool", input)
				rules := []string{"mcp__bad", "mcp__notes"}
				if c.late {
					first, rules = calls("mcp__notes__echo", `{"text":"first"}`), rules[1:]
				}
				w := hosttest.New(t, allowed(rules...), first, done, calls("mcp__notes__echo", `{"text":"hi"}`), done)
				more := `,"alwaysLoad":true`
				if c.late {
					more = ""
				}
				limit := 120_000 // the machine may be busy
				if strings.Contains(c.result, "400ms") {
					limit = 400
				}
				configure(w, fmt.Sprintf(`"bad":{"command":%q,"env":{%q:%q},"timeoutMs":%d%s}`, os.Args[0], asServer, behaviour, limit, more), entry("notes", `,"alwaysLoad":true`))
				e := w.Begin(false)
				e.Say("go")
				if got := e.LastResult().PlainText(); !strings.Contains(got, c.result) {
					t.Errorf("the result is %.300q", got)
				}
				if end := e.Say("go on"); end.Reason != protocol.EndCompleted {
					t.Errorf("%+v", end)
				}
				if got := e.LastResult().PlainText(); !strings.HasPrefix(got, "you said hi ") {
					t.Errorf("the good server says %.300q", got)
				}
				w.Reports.Mu.Lock()
				said := strings.Join(w.Reports.List, "\n")
				w.Reports.Mu.Unlock()
				told := map[string]int{}
				for line := range strings.Lines(said) {
					if strings.Contains(line, "MCP server bad") {
						told[line]++
					}
				}
				once := !slices.ContainsFunc(slices.Collect(maps.Values(told)), func(n int) bool { return n > 1 })
				// Half a message may be told as two things: that it is none, and that there is no answer.
				if most := 1 + strings.Count(behaviour, "half"); !once || len(told) > most || (len(told) > 0) != (c.notice != "") || !strings.Contains(said, c.notice) {
					t.Errorf("people are told %q", said)
				}
				w.Eventually("it has started", func() bool { return w.Exists("pids") })
				pids := strings.Fields(w.ReadAll(filepath.Join(w.Project, "pids")))
				w.Close()
				for _, pid := range pids {
					hosttest.Gone(t, pid)
				}
			})
			w := hosttest.World{T: t}
			w.Eventually("its descriptors are closed", func() bool { return descriptors() <= open })
		})
	}
}
