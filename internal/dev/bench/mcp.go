package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/engine/mcp/connect"
)

// idleServers is how many servers are connected with in the figure of idle ones, and
// idleTime how long they are watched.
const (
	idleServers = 10
	idleTime    = 2 * time.Second
)

// mcpWords is the input of the tool of the server that is measured.
type mcpWords struct {
	Text string `json:"text"`
}

// mcpServerCommand is an MCP server on stdin, with a tool that says its input again.
func mcpServerCommand(ctx context.Context) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *mcp.CallToolRequest, in mcpWords) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	return s.Run(ctx, &mcp.StdioTransport{}) // ends with the input
}

// mcpTarget is that server.
func mcpTarget() (connect.Target, error) {
	self, err := os.Executable()
	return connect.Target{Name: "bench", Command: self, Args: []string{"mcpserver"}, Env: os.Environ()}, err
}

// mcpServers measures connections to MCP servers: making one, calls, and what idle ones cost.
func mcpServers(ctx context.Context, _ *bench, n int) ([]figure, error) {
	connected := figure{Key: "mcp.connect", Name: "MCP server on stdio: connect and list", Unit: "ms", Goal: 12}
	over := figure{Key: "mcp.call", Name: "a call of an MCP tool on stdio, over the SDK's own", Unit: "ms", Goal: 0.5}
	held := figure{Key: "mcp.idle.anonymous", Name: fmt.Sprintf("%d idle MCP servers: memory, anonymous", idleServers), Unit: "MB", Goal: 3}
	routines := figure{Key: "mcp.idle.goroutines", Name: fmt.Sprintf("%d idle MCP servers: goroutines", idleServers), Unit: "", Goal: 60}
	cpu := figure{Key: "mcp.idle.cpu", Name: fmt.Sprintf("%d idle MCP servers: CPU in %v", idleServers, idleTime), Unit: "ms", Goal: 1}
	all := func() []figure { return []figure{connected, over, held, routines, cpu} }
	target, err := mcpTarget()
	if err != nil {
		return all(), err
	}
	for range max(5, n) {
		settle()
		began := time.Now()
		s, err := connect.Open(ctx, target, connect.Options{Version: "bench", Root: os.TempDir()})
		if err != nil {
			return all(), err
		}
		_, _, err = s.Tools(ctx)
		connected.Values = append(connected.Values, milliseconds(time.Since(began)))
		s.Close()
		if err != nil {
			return all(), err
		}
	}
	for range max(3, n/4) {
		ours, theirs, err := mcpCalls(ctx, target)
		if err != nil {
			return all(), err
		}
		over.Values = append(over.Values, max(0, ours-theirs))
	}
	for range 3 {
		out, err := exec.CommandContext(ctx, target.Command, "mcpidle").Output()
		if err != nil {
			return all(), err
		}
		var got mcpIdle
		if err := json.Unmarshal(out, &got); err != nil {
			return all(), err
		}
		held.Values = append(held.Values, got.Anonymous/mega)
		routines.Values = append(routines.Values, float64(got.Goroutines))
		cpu.Values = append(cpu.Values, got.CPU)
	}
	return all(), nil
}

// mcpCalls returns the medians of calls over our connection and over the SDK's, in
// milliseconds. They take turns, so that a busy machine is one for both.
func mcpCalls(ctx context.Context, target connect.Target) (ours, theirs float64, err error) {
	const calls = 200
	s, err := connect.Open(ctx, target, connect.Options{Version: "bench"})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.CommandContext(ctx, target.Command, target.Args...)}, nil)
	if err != nil {
		return 0, 0, err
	}
	defer session.Close()
	input := json.RawMessage(`{"text":"` + strings.Repeat("x", 200) + `"}`)
	var own, sdk series
	for i := range calls + 10 {
		began := time.Now()
		_, err := s.Call(ctx, connect.Call{Tool: "echo", Input: input})
		between := time.Now()
		_, other := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: input})
		if err := errors.Join(err, other); err != nil {
			return 0, 0, err
		}
		if i >= 10 { // the first ones are not counted
			own, sdk = append(own, milliseconds(between.Sub(began))), append(sdk, milliseconds(time.Since(between)))
		}
	}
	return own.quantile(0.5), sdk.quantile(0.5), nil
}

// mcpIdle is what idle servers cost the process that is connected with them.
type mcpIdle struct {
	Anonymous  float64 // bytes
	Goroutines int
	CPU        float64 // milliseconds in idleTime
}

// mcpIdleCommand connects with servers, and prints what they cost while nothing happens.
// One is connected with before, so that the code and tables of the library are not counted.
func mcpIdleCommand(ctx context.Context) error {
	target, err := mcpTarget()
	if err != nil {
		return err
	}
	options := connect.Options{Version: "bench", Root: os.TempDir()}
	open := func(n int) error {
		for range n {
			s, err := connect.Open(ctx, target, options)
			if err != nil {
				return err
			}
			if _, _, err := s.Tools(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	if err := open(1); err != nil {
		return err
	}
	runtime.GC()
	before, err := readMemory(os.Getpid())
	if err != nil {
		return err
	}
	routines := runtime.NumGoroutine()
	if err := open(idleServers); err != nil {
		return err
	}
	runtime.GC()
	after, err := readMemory(os.Getpid())
	if err != nil {
		return err
	}
	got := mcpIdle{Anonymous: after.Anonymous - before.Anonymous, Goroutines: runtime.NumGoroutine() - routines}
	time.Sleep(time.Second) // what follows a connection
	began, err := cpuTime()
	if err != nil {
		return err
	}
	time.Sleep(idleTime)
	ended, err := cpuTime()
	if err != nil {
		return err
	}
	got.CPU = milliseconds(ended - began)
	return json.NewEncoder(os.Stdout).Encode(got)
}

// cpuTime is what this process has used of the CPU.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
