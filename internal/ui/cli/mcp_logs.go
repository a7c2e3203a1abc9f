package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) mcpLogsCommand() *cobra.Command {
	var session string
	var asJSON bool
	cmd := &cobra.Command{Use: "logs NAME", Short: "Show what an MCP server has written", Args: args(cobra.ExactArgs(1)),
		Long: `Prints the last 64 KiB of what a server of an open session has written to stderr, cleaned of
control characters. Without --session, the first open session that uses the server counts.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.mcpLogs(cmd.Context(), args[0], session, asJSON)
		}}
	cmd.Flags().StringVar(&session, "session", "", "the session, by its id or name")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) mcpLogs(ctx context.Context, name, session string, asJSON bool) error {
	unused := fmt.Errorf("no open session uses the MCP server %q; scorel mcp test %s connects with it and says what is wrong", name, name)
	l, err := a.reach(ctx, reachOptions{name: "scorel mcp logs"})
	if noHost(err) {
		return unused
	}
	if err != nil {
		return err
	}
	defer l.Close()
	var ids []protocol.SessionID
	if session != "" {
		id, err := l.find(ctx, session)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	} else {
		status, err := client.Call[*protocol.Status](ctx, l.Client, "", &protocol.GetStatus{})
		if err != nil {
			return err
		}
		for _, s := range status.Sessions {
			ids = append(ids, s.SessionID)
		}
	}
	for _, id := range ids {
		log, err := client.Call[*protocol.MCPLog](ctx, l.Client, id, &protocol.GetMCPLog{Name: name})
		if protocol.AboutOf(err).Field == "name" { // this one does not use it
			continue
		}
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(log)
		}
		text := display.Text(log.Text)
		if text == "" {
			fmt.Fprintf(a.stderr, "scorel: The MCP server %s has written nothing.\n", display.Line(name))
			return nil
		}
		fmt.Fprintln(a.stdout, strings.TrimRight(text, "\n"))
		return nil
	}
	return unused
}
