package mcpcmd

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

// tested is what scorel mcp test found.
type tested struct {
	Name         string    `json:"name"`
	OK           bool      `json:"ok"`
	Problem      string    `json:"problem,omitempty"`
	Server       string    `json:"server,omitempty"` // what it calls itself
	Protocol     string    `json:"protocol,omitempty"`
	ConnectMS    int64     `json:"connectMs,omitempty"`
	Instructions string    `json:"instructions,omitempty"`
	Tools        []offered `json:"tools"`
	Faults       []string  `json:"faults,omitempty"`
}

// offered is a tool that it has.
type offered struct {
	Name        string `json:"name"` // for the model and for rules
	Own         string `json:"own"`  // the server's own
	Description string `json:"description,omitempty"`
	LeftOut     bool   `json:"leftOut,omitempty"` // by allowTools or denyTools of the entry
}

func (cs *commands) testCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "test NAME", Short: "Connect to an MCP server and list its tools", Args: cs.Args(cobra.ExactArgs(1)),
		Long: `Starts or calls a server as a session would, lists its tools, and ends the
connection. Nothing is called. A server of a project is started only
when you trust the project.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := cs.read(cmd.Context())
			if err != nil {
				return err
			}
			e, ok := f.set.Lookup(args[0])
			if !ok {
				return f.missing(args[0])
			}
			t := cs.test(cmd.Context(), f, e)
			if asJSON {
				err = cs.printJSON(t)
			} else {
				cs.showTested(t)
			}
			if err == nil && !t.OK {
				cs.Exit(exit.Failed)
			}
			return err
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// test connects to a server and reads its tools.
func (cs *commands) test(ctx context.Context, f *files, e mcp.Entry) tested {
	t := tested{Name: e.Name, Tools: []offered{}}
	reached, _, err := cs.reach(f, e)
	if err != nil {
		t.Problem = err.Error()
		return t
	}
	began := time.Now()
	s, err := connect.Open(ctx, reached.Target, connect.Options{Version: cs.Version, Root: f.root})
	if err != nil {
		t.Problem = whyNot(e.Name, err)
		return t
	}
	defer s.Close()
	t.OK, t.ConnectMS = true, time.Since(began).Milliseconds()
	t.Server, t.Protocol, t.Instructions = s.Title(), s.ProtocolVersion(), s.Instructions()
	tools, faults, err := s.Tools(ctx)
	if err != nil {
		t.OK, t.Problem = false, whyNot(e.Name, err)
	}
	for _, tool := range tools {
		t.Tools = append(t.Tools, offered{tool.Name, tool.Own, tool.Description, !e.Takes(tool.Own)})
	}
	if t.Faults = faults; s.Nonsense() != "" {
		t.Faults = append(t.Faults, s.Nonsense())
	}
	return t
}

func (cs *commands) showTested(t tested) {
	if t.Server != "" {
		fmt.Fprintf(cs.Stdout, "%s: connected to %s in %d ms, protocol %s\n", t.Name, display.Line(t.Server), t.ConnectMS, display.Line(t.Protocol))
	}
	for _, tool := range t.Tools {
		note := ""
		if tool.LeftOut {
			note = " (left out by the entry)"
		}
		fmt.Fprintf(cs.Stdout, "  %s%s\n", tool.Name, note)
	}
	if t.OK && len(t.Tools) == 0 {
		fmt.Fprintln(cs.Stdout, "  it has no tools")
	}
	for _, fault := range t.Faults {
		fmt.Fprintf(cs.Stderr, "scorel: The MCP server %s: %s.\n", t.Name, display.Line(fault))
	}
	if t.Problem != "" {
		fmt.Fprintf(cs.Stderr, "scorel: The MCP server %s cannot be used: %s.\n", t.Name, display.Line(t.Problem))
	}
}
