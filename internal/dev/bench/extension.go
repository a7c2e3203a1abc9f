package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// measured is the extension that is loaded: a gate of calls, and two handlers of the
// context that give back what they get.
const measured = `// %s
import type { ExtensionAPI } from "scorel";
export default function (pi: ExtensionAPI) {
  pi.on("tool_call", (event) => (String(event.input.command).includes("rm -rf") ? { block: true, reason: "no" } : undefined));
  pi.on("context", (event) => (same ? undefined : { messages: event.messages.slice() }));
}
const same = %t;
`

// extensions measures the child with one extension: its start, and round trips.
func extensions(ctx context.Context, b *bench, n int) ([]figure, error) {
	dir := filepath.Join(b.world.root, "extension")
	first := figure{Key: "extension", Name: "child with one TypeScript extension, first", Unit: "ms", Goal: 80}
	cached := figure{Key: "extension.cached", Name: "the same, from the cache of bundles", Unit: "ms", Goal: 40}
	anonymous := figure{Key: "extension.anonymous", Name: "its memory, anonymous", Unit: "MB", Goal: 20}
	call := figure{Key: "extension.call", Name: "a tool_call handler, round trip", Unit: "ms", Goal: 0.5}
	same := figure{Key: "extension.same", Name: fmt.Sprintf("a context handler, %d messages unchanged", b.load.messages), Unit: "ms", Goal: 10}
	list := figure{Key: "extension.list", Name: "the same, as a new list", Unit: "ms", Goal: 40}
	all := func() []figure { return []figure{first, cached, anonymous, call, same, list} }
	for i := range max(3, n) {
		settle()
		file, cache := filepath.Join(dir, fmt.Sprintf("%d.ts", i)), filepath.Join(dir, fmt.Sprintf("cache%d", i))
		for round, f := range []*figure{&first, &cached} {
			c, took, err := b.extension(ctx, file, cache, true)
			if err != nil {
				return all(), err
			}
			f.Values = append(f.Values, took)
			if round == 1 {
				var m memory
				if m, err = readMemory(c.cmd.Process.Pid); err == nil {
					anonymous.Values = append(anonymous.Values, m.Anonymous/mega)
				}
			}
			if err := errors.Join(err, c.end()); err != nil {
				return all(), err
			}
		}
	}
	for unchanged, f := range map[bool]*figure{true: &same, false: &list} {
		c, _, err := b.extension(ctx, filepath.Join(dir, "context.ts"), filepath.Join(dir, "cache"), unchanged)
		if err != nil {
			return all(), err
		}
		err = c.contexts(b.load.messages, n, f)
		if err == nil && unchanged {
			err = c.hooks("tool_call", json.RawMessage(`{"toolName":"Bash","toolCallId":"c1","input":{"command":"make test"}}`), 10*n, &call)
		}
		if err := errors.Join(err, c.end()); err != nil {
			return all(), err
		}
	}
	return all(), nil
}

// helper is a child with extensions, spoken to as a host does.
type helper struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	page *rpc.Page
	id   int
}

// extension starts a child and loads an extension; it says how many milliseconds that
// took from before the start.
func (b *bench) extension(ctx context.Context, file, cache string, unchanged bool) (*helper, float64, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, 0, err
	}
	source := fmt.Sprintf(measured, file, unchanged)
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return nil, 0, err
	}
	page, shared, err := rpc.NewPage()
	if err != nil {
		return nil, 0, err
	}
	defer shared.Close()
	h := &helper{page: page, cmd: exec.CommandContext(ctx, b.bin, rpc.ChildName, "3")}
	h.cmd.Env, h.cmd.Dir, h.cmd.ExtraFiles = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.world.home}, filepath.Dir(file), []*os.File{shared}
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, 0, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	h.out = bufio.NewReaderSize(out, 1<<20)
	start := time.Now()
	if err := h.cmd.Start(); err != nil {
		return nil, 0, err
	}
	var loaded rpc.Registration
	err = h.call(rpc.MethodInitialize, rpc.Initialize{Protocol: rpc.Version, Version: "bench", Session: rpc.Session{Cwd: h.cmd.Dir, Mode: "print"}, State: rpc.State{Idle: true}}, nil)
	if err == nil {
		err = h.call(rpc.MethodLoad, rpc.Load{Ext: "measured", Path: file, Scope: "user", Root: filepath.Dir(file), Cache: cache, Reason: "startup"}, &loaded)
	}
	took := milliseconds(time.Since(start))
	if err == nil && len(loaded.Hooks) != 2 {
		err = fmt.Errorf("the extension listens to %v", loaded.Hooks)
	}
	if err == nil {
		err = h.call(rpc.MethodHook, rpc.HookCall{Ext: "measured", Hook: "session_start", Data: json.RawMessage(`{"reason":"startup"}`)}, nil)
	}
	if err != nil {
		return nil, 0, errors.Join(err, h.end())
	}
	return h, took, nil
}

// contexts asks the handler of the context n times for a conversation of messages.
func (h *helper) contexts(messages, n int, f *figure) error {
	entries := rpc.Entries{}
	for i := range messages {
		m := protocol.UserText(fmt.Sprintf("This is message %d of a long conversation.", i))
		e, err := json.Marshal(rpc.Entry{Type: "message", ID: protocol.EventID(fmt.Sprintf("evt_%016d", i)), Message: &m})
		if err != nil {
			return err
		}
		entries.Add = append(entries.Add, e)
	}
	if err := h.say(map[string]any{"jsonrpc": "2.0", "method": rpc.NoteEntries, "params": entries}); err != nil {
		return err
	}
	data, err := json.Marshal(rpc.ContextData{List: []rpc.ListPart{{Run: &[2]int{0, messages - 1}}}})
	if err != nil {
		return err
	}
	return h.hooks("context", data, n, f)
}

// hooks asks a handler n times, after one that is not counted.
func (h *helper) hooks(name string, data json.RawMessage, n int, f *figure) error {
	for i := range n + 1 {
		start := time.Now()
		if err := h.call(rpc.MethodHook, rpc.HookCall{Ext: "measured", Hook: name, Data: data}, nil); err != nil {
			return err
		}
		if i > 0 {
			f.Values = append(f.Values, milliseconds(time.Since(start)))
		}
	}
	return nil
}

func (h *helper) say(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = h.in.Write(append(line, '\n'))
	return err
}

// call asks the child and waits for the answer; what it asks for itself is refused.
func (h *helper) call(method string, params, to any) error {
	h.id++
	if err := h.say(map[string]any{"jsonrpc": "2.0", "id": h.id, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		line, err := h.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		switch err := json.Unmarshal(line, &m); {
		case err != nil:
			return err
		case m.Method != "" && m.ID != nil:
			err = h.say(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "there is none"}})
			if err != nil {
				return err
			}
		case m.Method != "" || string(m.ID) != fmt.Sprint(h.id):
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case to == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, to)
		}
	}
}

// end ends the child.
func (h *helper) end() error {
	err := h.call(rpc.MethodShutdown, struct{}{}, nil)
	_ = h.in.Close() // it is over
	if err != nil {
		_ = h.cmd.Process.Kill()
	}
	err = errors.Join(err, h.cmd.Wait())
	h.page.Close()
	return err
}
