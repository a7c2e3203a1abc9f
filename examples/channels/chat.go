//go:build ignore

// Command chat is a channel with senders: a chat on a socket of this machine. Each connection writes lines,
// the first of which is its name. The model answers with the tool reply. Who is not known gets
// a pairing code; permission questions go to all, and "y ID" or "n ID" answers them.
//
//	go build -o chat chat.go
//	scorel mcp add chat -- ./chat /tmp/chat.sock
//	nc -U /tmp/chat.sock
//
// The names are not checked here, so that it is for one person's machine. A server that
// anybody can reach has to know who writes before it declares claude/channel/permission.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
)

type object = map[string]any

var (
	mu    sync.Mutex // guards stdout and conns
	conns = map[string]net.Conn{}
)

// verdictLine is how people answer a permission question.
var verdictLine = regexp.MustCompile(`(?i)^\s*(y|yes|n|no)\s+([a-km-z]{5})\s*$`)

func send(message object) {
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Printf("%s\n", line)
}

// tell writes a line to somebody, or to all.
func tell(who, text string) (ok bool) {
	mu.Lock()
	defer mu.Unlock()
	for name, c := range conns {
		if who == "" || who == name {
			fmt.Fprintln(c, text)
			ok = true
		}
	}
	return ok
}

// talk pushes what one connection writes.
func talk(c net.Conn) {
	defer c.Close()
	in := bufio.NewScanner(c)
	if !in.Scan() {
		return
	}
	name := strings.TrimSpace(in.Text())
	mu.Lock()
	conns[name] = c
	mu.Unlock()
	for in.Scan() {
		if m := verdictLine.FindStringSubmatch(in.Text()); m != nil {
			behavior := "deny"
			if strings.EqualFold(m[1][:1], "y") {
				behavior = "allow"
			}
			send(object{"method": "notifications/claude/channel/permission", "params": object{"request_id": strings.ToLower(m[2]), "behavior": behavior}})
			continue
		}
		send(object{"method": "notifications/claude/channel", "params": object{"content": in.Text(), "meta": object{"user_id": name}}})
	}
	mu.Lock()
	defer mu.Unlock()
	if conns[name] == c {
		delete(conns, name)
	}
}

func listen(path string) {
	_ = os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go talk(c)
	}
}

// call is a message of Scorel.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		// Of notifications.
		Sender      string `json:"sender_id"`
		Text        string `json:"text"`
		RequestID   string `json:"request_id"`
		Tool        string `json:"tool_name"`
		Description string `json:"description"`
		Preview     string `json:"input_preview"`
		// Of the tool.
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	} `json:"params"`
}

// result answers a request, nil where there is no such method.
func result(c call) object {
	switch c.Method {
	case "initialize":
		return object{"protocolVersion": "2025-11-25", "serverInfo": object{"name": "chat", "version": "1"},
			"instructions": "Messages of people come as events of the channel. Answer them with the tool reply.",
			"capabilities": object{"tools": object{}, "experimental": object{"claude/channel": object{}, "claude/channel/permission": object{}, "scorel/channel/pairing": object{}}}}
	case "tools/list":
		text := object{"type": "string"}
		return object{"tools": []object{{"name": "reply", "description": "Sends a line to somebody in the chat, by the user_id of the event.",
			"inputSchema": object{"type": "object", "properties": object{"user_id": text, "text": text}, "required": []string{"user_id", "text"}}}}}
	case "tools/call":
		said := "sent"
		ok := tell(c.Params.Arguments["user_id"], c.Params.Arguments["text"])
		if !ok {
			said = "nobody of this name is there"
		}
		return object{"content": []object{{"type": "text", "text": said}}, "isError": !ok}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: chat SOCKET")
		os.Exit(2)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var c call
		if json.Unmarshal(line, &c) != nil {
			continue
		}
		switch c.Method {
		case "notifications/initialized":
			go listen(os.Args[1])
		case "notifications/scorel/channel/pairing":
			tell(c.Params.Sender, c.Params.Text)
		case "notifications/claude/channel/permission_request":
			tell("", fmt.Sprintf("May it run %s %s? %s Answer y %s or n %s.", c.Params.Tool, c.Params.Preview, c.Params.Description, c.Params.RequestID, c.Params.RequestID))
		}
		if c.ID == nil || c.Method == "" {
			continue
		}
		if r := result(c); r != nil {
			send(object{"id": c.ID, "result": r})
		} else {
			send(object{"id": c.ID, "error": object{"code": -32601, "message": "there is no such method"}})
		}
	}
}
