package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"scorel/internal/engine/mcp/connect"
)

// manyServers is how many MCP servers a session has in the figure of its first request. The
// last of them never answers.
const manyServers = 10

// mcpHangCommand is an MCP server that reads and never answers. It ends with its input.
func mcpHangCommand() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// withServers writes the user's file of MCP servers with manyServers of them, and returns
// what removes it again.
func (b *bench) withServers(target connect.Target) (remove func(), err error) {
	type entry struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	servers := map[string]entry{}
	for i := range manyServers - 1 {
		servers[fmt.Sprintf("server%d", i)] = entry{target.Command, target.Args}
	}
	servers["hanging"] = entry{target.Command, []string{"mcphang"}}
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, err
	}
	name := filepath.Join(b.world.home, ".scorel", "mcp.json")
	return func() { _ = os.Remove(name) }, os.WriteFile(name, data, 0o600)
}

// tenServers measures by how much MCP servers delay the first request of a session: the
// difference of two runs, with them and without. The runs take turns, so that a busy machine
// is one for both.
func tenServers(ctx context.Context, b *bench, n int) ([]figure, error) {
	f := figure{Key: "servers", Name: fmt.Sprintf("first request with %d MCP servers, one hanging, over none", manyServers), Unit: "ms", Goal: 5}
	target, err := mcpTarget()
	if err != nil {
		return []figure{f}, err
	}
	t := task{name: f.Name, args: []string{"-p", "Say that you are there."}, script: inOrder(0, `{"text":"I am there."}`), requests: 1, messages: 1, stdout: "I am there."}
	if err := b.server.load(ctx, t.script, false); err != nil {
		return []figure{f}, err
	}
	for range max(5, n) {
		settle()
		without, err := b.once(ctx, t)
		if err != nil {
			return []figure{f}, err
		}
		remove, err := b.withServers(target)
		if err != nil {
			return []figure{f}, err
		}
		settle()
		with, err := b.once(ctx, t)
		remove()
		if err != nil {
			return []figure{f}, err
		}
		f.Values = append(f.Values, max(0, with.FirstMS-without.FirstMS))
	}
	return []figure{f}, nil
}
