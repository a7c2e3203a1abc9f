package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/ui/exit"
	"scorel/protocol/display"
)

// mcpTested is what scorel mcp test found.
type mcpTested struct {
	Name         string    `json:"name"`
	OK           bool      `json:"ok"`
	Problem      string    `json:"problem,omitempty"`
	Server       string    `json:"server,omitempty"` // what it calls itself
	Protocol     string    `json:"protocol,omitempty"`
	ConnectMS    int64     `json:"connectMs,omitempty"`
	Instructions string    `json:"instructions,omitempty"`
	Tools        []mcpTool `json:"tools"`
	Faults       []string  `json:"faults,omitempty"`
}

// mcpTool is a tool that it has.
type mcpTool struct {
	Name        string `json:"name"` // for the model and for rules
	Own         string `json:"own"`  // the server's own
	Description string `json:"description,omitempty"`
	LeftOut     bool   `json:"leftOut,omitempty"` // by allowTools or denyTools of the entry
}

func (a *app) mcpTestCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "test NAME", Short: "Connect to an MCP server and list its tools", Args: args(cobra.ExactArgs(1)),
		Long: `Starts or calls a server as a session would, lists its tools, and ends the
connection. Nothing is called. A server of a project is started only
when you trust the project.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := a.mcpRead(cmd.Context())
			if err != nil {
				return err
			}
			e, ok := f.set.Lookup(args[0])
			if !ok {
				return f.missing(args[0])
			}
			t := a.mcpTest(cmd.Context(), f, e)
			if asJSON {
				err = a.printJSON(t)
			} else {
				a.mcpShowTested(t)
			}
			if err == nil && !t.OK {
				a.code = exit.Failed
			}
			return err
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// mcpTest connects to a server and reads its tools.
func (a *app) mcpTest(ctx context.Context, f *mcpFiles, e mcp.Entry) mcpTested {
	t := mcpTested{Name: e.Name, Tools: []mcpTool{}}
	reached, _, err := a.mcpReach(f, e)
	if err != nil {
		t.Problem = err.Error()
		return t
	}
	began := time.Now()
	s, err := connect.Open(ctx, reached.Target, connect.Options{Version: Version, Root: f.root})
	if err != nil {
		t.Problem = mcpWhy(e.Name, err)
		return t
	}
	defer s.Close()
	t.OK, t.ConnectMS = true, time.Since(began).Milliseconds()
	t.Server, t.Protocol, t.Instructions = s.Title(), s.ProtocolVersion(), s.Instructions()
	tools, faults, err := s.Tools(ctx)
	if err != nil {
		t.OK, t.Problem = false, mcpWhy(e.Name, err)
	}
	for _, tool := range tools {
		t.Tools = append(t.Tools, mcpTool{tool.Name, tool.Own, tool.Description, !e.Takes(tool.Own)})
	}
	if t.Faults = faults; s.Nonsense() != "" {
		t.Faults = append(t.Faults, s.Nonsense())
	}
	return t
}

func (a *app) mcpShowTested(t mcpTested) {
	if t.Server != "" {
		fmt.Fprintf(a.stdout, "%s: connected to %s in %d ms, protocol %s\n", t.Name, display.Line(t.Server), t.ConnectMS, display.Line(t.Protocol))
	}
	for _, tool := range t.Tools {
		note := ""
		if tool.LeftOut {
			note = " (left out by the entry)"
		}
		fmt.Fprintf(a.stdout, "  %s%s\n", tool.Name, note)
	}
	if t.OK && len(t.Tools) == 0 {
		fmt.Fprintln(a.stdout, "  it has no tools")
	}
	for _, fault := range t.Faults {
		fmt.Fprintf(a.stderr, "scorel: The MCP server %s: %s.\n", t.Name, display.Line(fault))
	}
	if t.Problem != "" {
		fmt.Fprintf(a.stderr, "scorel: The MCP server %s cannot be used: %s.\n", t.Name, display.Line(t.Problem))
	}
}
