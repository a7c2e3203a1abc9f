package webcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (c *commands) clientsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "clients", Short: "List, allow and remove browsers and other clients that have a key", Args: c.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("use one of: list, confirm, rename, grant or revoke")
		}}
	var asJSON bool
	list := &cobra.Command{Use: "list", Short: "List them", Args: c.Args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
		return c.onClients(cmd.Context(), func(ctx context.Context, l *client.Client) error {
			all, err := client.Call[*protocol.EntryList](ctx, l, "", &protocol.ListEntries{})
			if err != nil {
				return err
			}
			if asJSON {
				return plain.JSON(c.Stdout, all)
			}
			return c.showEntries(all.Entries)
		})
	}}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(list,
		c.clientChange("confirm CLIENT", "Let in a client that waits for it", cobra.ExactArgs(1), func(id protocol.ClientID, _ []string) (protocol.Request, string) {
			return &protocol.ConfirmEntry{ClientID: id}, "is in"
		}),
		c.clientChange("rename CLIENT NAME", "Rename a client", cobra.ExactArgs(2), func(id protocol.ClientID, args []string) (protocol.Request, string) {
			return &protocol.RenameEntry{ClientID: id, Label: args[0]}, "has the name " + display.Line(args[0])
		}),
		c.clientChange("grant CLIENT view|answer|control", "Change what a client may do, at once", cobra.ExactArgs(2), func(id protocol.ClientID, args []string) (protocol.Request, string) {
			return &protocol.SetGrant{ClientID: id, Grant: protocol.Grant(args[0])}, "has the grant " + display.Line(args[0])
		}),
		c.clientChange("revoke CLIENT", "Remove a client from the list, and end its connections", cobra.ExactArgs(1), func(id protocol.ClientID, _ []string) (protocol.Request, string) {
			return &protocol.RevokeEntry{ClientID: id}, "may not come in any more"
		}))
	return cmd
}

// onClients asks the host of this machine, which is started when none runs.
func (c *commands) onClients(ctx context.Context, do func(context.Context, *client.Client) error) error {
	l, done, err := c.Reach(ctx, true, "scorel clients")
	if err != nil {
		return err
	}
	defer done()
	return do(ctx, l)
}

// clientChange is a command that changes one entry.
func (c *commands) clientChange(use, short string, check cobra.PositionalArgs, request func(protocol.ClientID, []string) (protocol.Request, string)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: c.Args(check), RunE: func(cmd *cobra.Command, args []string) error {
		return c.onClients(cmd.Context(), func(ctx context.Context, l *client.Client) error {
			e, err := find(ctx, l, args[0])
			if err != nil {
				return err
			}
			r, said := request(e.ClientID, args[1:])
			if g, ok := r.(*protocol.SetGrant); ok {
				if err := g.Grant.Check(); err != nil {
					return exit.Usagef("%v", err)
				}
			}
			if _, err := client.Call[*protocol.Done](ctx, l, "", r); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "%s (%s) %s.\n", display.Line(e.Label), e.ClientID, said)
			return err
		})
	}}
}

// minEntry is how many characters of an id name an entry.
const minEntry = 6

// find returns the one that a name means: its id, its label, or the beginning or end of its id.
func find(ctx context.Context, l *client.Client, name string) (found protocol.Entry, err error) {
	all, err := client.Call[*protocol.EntryList](ctx, l, "", &protocol.ListEntries{})
	if err != nil {
		return found, err
	}
	n := 0
	for _, e := range all.Entries {
		id, part := strings.TrimPrefix(string(e.ClientID), "cli_"), strings.TrimPrefix(name, "cli_")
		switch {
		case string(e.ClientID) == name:
			return e, nil
		case e.Label == name, len(part) >= minEntry && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part)):
			found = e
			n++
		}
	}
	switch n {
	case 0:
		return found, exit.Usagef("no client is called %q; scorel clients list shows them", name)
	case 1:
		return found, nil
	}
	return found, exit.Usagef("%d clients are called %q; use an ID of scorel clients list", n, name)
}

func (c *commands) showEntries(all []protocol.Entry) error {
	if len(all) == 0 {
		fmt.Fprintln(c.Stdout, "No client has a key of its own. scorel web lets a browser in.")
		return nil
	}
	rows := [][]string{{"CLIENT", "NAME", "GRANT", "LAST SEEN"}}
	pushes := slices.ContainsFunc(all, func(e protocol.Entry) bool { return e.Push != "" })
	if pushes {
		rows[0] = append(rows[0], "PUSH")
	}
	for _, e := range all {
		grant, seen := string(e.Grant), "never"
		switch {
		case e.Pending:
			grant = "waits, from " + display.Line(e.Address)
		case e.LastSeen > 0:
			seen = time.UnixMilli(e.LastSeen).Format("2006-01-02 15:04")
		}
		if e.Online {
			seen = "now"
		}
		row := []string{string(e.ClientID), display.Line(e.Label), grant, seen}
		if pushes {
			row = append(row, string(e.Push))
		}
		rows = append(rows, row)
	}
	if err := plain.Table(c.Stdout, rows); err != nil {
		return err
	}
	for _, e := range all {
		if why := pushProblem(e.Push); why != "" {
			fmt.Fprintf(c.Stdout, "%s: %s\n", display.Line(e.Label), why)
		}
	}
	return nil
}

// pushProblem says what is wrong with the push subscription of a client and what to do, "" for
// nothing.
func pushProblem(s protocol.PushState) string {
	switch s {
	case protocol.PushGone:
		return "its push service does not know it any more; open the page in that browser, which subscribes again."
	case protocol.PushRefused:
		return "its push service has refused the last push; switch pushes off and on there, in the settings of notifications."
	case protocol.PushUnreachable:
		return "its push service could not be reached for the last push; the next session that waits is pushed again."
	}
	return ""
}
