package channels_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// asServer makes the test binary an MCP server on stdin; its value is its name and, after a
// colon, the capabilities that it declares.
const asServer = "CHANNELS_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		serve(kind)
		return
	}
	hosttest.Main(m)
}

// serve is a server that writes the lines of the file push-NAME to its client, ends at the line
// exit, and keeps the
// notifications that it gets about channels in got-NAME.
func serve(kind string) {
	name, caps, _ := strings.Cut(kind, ":")
	declared := map[string]any{}
	for c := range strings.SplitSeq(caps, ",") {
		if c != "" {
			declared[c] = map[string]any{}
		}
	}
	lines := make(chan string)
	go func() { // ends with the process
		for sent := 0; ; time.Sleep(2 * time.Millisecond) {
			data, _ := os.ReadFile("push-" + name)
			for _, line := range strings.SplitAfter(string(data[min(sent, len(data)):]), "\n") {
				if strings.HasSuffix(line, "\n") {
					sent += len(line)
					lines <- line
				}
			}
		}
	}()
	go func() { // ends with the process
		for line := range lines {
			if line == "exit\n" {
				os.Exit(0)
			}
			fmt.Print(line)
		}
	}()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		var answer string
		switch {
		case m.ID == nil:
			if strings.Contains(m.Method, "channel") {
				f, _ := os.OpenFile("got-"+name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				fmt.Fprintln(f, in.Text())
				_ = f.Close()
			}
			continue
		case m.Method == "initialize":
			result, _ := json.Marshal(map[string]any{"protocolVersion": "2025-11-25", "serverInfo": map[string]any{"name": name, "version": "1"},
				"capabilities": map[string]any{"experimental": declared}})
			answer = `"result":` + string(result)
		default:
			answer = `"error":{"code":-32601,"message":"there is no such method"}`
		}
		lines <- fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", m.ID, answer)
	}
}

const (
	channel = "claude/channel"
	relay   = channel + ",claude/channel/permission"
	pairs   = channel + ",scorel/channel/pairing"
)

// entry is one of a configuration whose server is the test binary.
func entry(name, caps, more string) string {
	return fmt.Sprintf(`%q:{"command":%q,"env":{%q:%q}%s}`, name, os.Args[0], asServer, name+":"+caps, more)
}

func configure(w *hosttest.World, entries ...string) {
	w.Write(filepath.Join(w.Home, ".scorel", "mcp.json"), `{"mcpServers":{`+strings.Join(entries, ",")+`}}`)
}

// named is a setting in which people have named channels.
func named(names ...string) hosttest.Setting {
	return hosttest.Setting{Attended: true, Overrides: host.Overrides{Channels: names}}
}

// write has a server send a notification.
func write(w *hosttest.World, server, method string, params any) {
	w.T.Helper()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	if err != nil {
		w.T.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(w.Project, "push-"+server), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		_ = f.Close()
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// push has a server send an event, with names and values of what is beside it.
func push(w *hosttest.World, server, content string, meta ...string) {
	w.T.Helper()
	params := map[string]any{"content": content}
	if len(meta) > 0 {
		beside := map[string]string{}
		for i := 0; i < len(meta); i += 2 {
			beside[meta[i]] = meta[i+1]
		}
		params["meta"] = beside
	}
	write(w, server, "notifications/claude/channel", params)
}

// notice takes updates until people are told a sentence that has a text.
func notice(e *hosttest.Entry, text string) string {
	e.W.T.Helper()
	return e.Until(func(ev protocol.Event) bool {
		n, ok := ev.Body.(*protocol.Notice)
		return ok && strings.Contains(n.Text, text)
	}).Body.(*protocol.Notice).Text
}

// listens begins a session with a first turn, after which its channel listens.
func listens(w *hosttest.World, interactive bool) *hosttest.Entry {
	w.T.Helper()
	e := w.Begin(interactive)
	e.Send("hello")
	notice(e, "listens:")
	e.End()
	e.Events = nil
	return e
}

// injected returns what came through channels into a session, and the messages that took it.
func injected(w *hosttest.World, id protocol.SessionID) (events []*protocol.ChannelInject, messages []protocol.Event) {
	for _, e := range w.Log(id) {
		switch b := e.Body.(type) {
		case *protocol.ChannelInject:
			events = append(events, b)
		case *protocol.MessageBody:
			if b.Message.Meta != nil && b.Message.Meta.Source == protocol.SourceChannel {
				messages = append(messages, e)
			}
		}
	}
	return events, messages
}

const always = `{"again":true,"do":[{"text":"done"}]}`
