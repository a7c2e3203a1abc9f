package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/host/mcpservers"
	"scorel/internal/platform/disk"
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

func (a *app) mcpResetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "reset", Short: "Forget which MCP servers are switched on or off for this project", Args: args(cobra.NoArgs),
		Long: `Forgets what "scorel mcp enable" and "scorel mcp disable" have decided for this project, in
~/.scorel/mcp.json. Servers that are disabled in their own entries stay disabled. The trust in
a project's servers is revoked with "scorel trust revoke".`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.mcpRead(cmd.Context())
			if err != nil {
				return err
			}
			names, err := f.store.Reset(f.root)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					Reset []string `json:"reset"`
				}{append([]string{}, names...)})
			}
			if len(names) == 0 {
				fmt.Fprintln(a.stdout, "No MCP server is switched on or off for this project.")
				return nil
			}
			fmt.Fprintf(a.stdout, "Forgot what was decided for this project about %s\nFile modified: %s\n", display.Line(strings.Join(names, ", ")), display.Line(f.store.File))
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// forgets returns what forgets the tokens and answers for the server of a name and scope. They
// are found by its entry, so this is called before that is removed.
func (f *mcpFiles) forgets(scope mcp.Scope, name string) func() (bool, error) {
	none := func() (bool, error) { return false, nil }
	e, ok := f.set.Lookup(name)
	if !ok || e.Scope != scope {
		return none
	}
	r, err := mcpservers.Reach(e, f.set.Policy, f.vars, f.in)
	if err != nil { // nobody could sign in to it
		return func() (bool, error) { return false, f.in.Answers.Forget(e) }
	}
	login, err := mcpservers.NewLogin(e, r, disk.OS(), filepath.Join(f.home, ".scorel", "credentials.json"), Version)
	return func() (bool, error) {
		if err := errors.Join(err, f.in.Answers.Forget(e)); err != nil || login == nil {
			return false, err
		}
		if err := login.ForgetSecret(); err != nil {
			return false, err
		}
		return login.Forget()
	}
}
