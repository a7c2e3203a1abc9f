package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) clientsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "clients", Short: "Show and change which browsers and other clients may come in with a key of their own", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("use one of: list, confirm, rename, grant or revoke")
		}}
	var asJSON bool
	list := &cobra.Command{Use: "list", Short: "List them", Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
		return a.onClients(cmd.Context(), func(ctx context.Context, l *link) error {
			all, err := client.Call[*protocol.EntryList](ctx, l.Client, "", &protocol.ListEntries{})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(all)
			}
			return a.showEntries(all.Entries)
		})
	}}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(list,
		a.clientChange("confirm CLIENT", "Let one in that waits for it", cobra.ExactArgs(1), func(id protocol.ClientID, _ []string) (protocol.Request, string) {
			return &protocol.ConfirmEntry{ClientID: id}, "is in"
		}),
		a.clientChange("rename CLIENT NAME", "Give one another name", cobra.ExactArgs(2), func(id protocol.ClientID, args []string) (protocol.Request, string) {
			return &protocol.RenameEntry{ClientID: id, Label: args[0]}, "has the name " + display.Line(args[0])
		}),
		a.clientChange("grant CLIENT view|answer|control", "Change what one may do, at once", cobra.ExactArgs(2), func(id protocol.ClientID, args []string) (protocol.Request, string) {
			return &protocol.SetGrant{ClientID: id, Grant: protocol.Grant(args[0])}, "has the grant " + display.Line(args[0])
		}),
		a.clientChange("revoke CLIENT", "Take one off the list, and end its connections", cobra.ExactArgs(1), func(id protocol.ClientID, _ []string) (protocol.Request, string) {
			return &protocol.RevokeEntry{ClientID: id}, "may not come in any more"
		}))
	return cmd
}

// onClients asks the host of this machine, which is started when none runs.
func (a *app) onClients(ctx context.Context, do func(context.Context, *link) error) error {
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel clients"})
	if err != nil {
		return err
	}
	defer l.Close()
	return do(ctx, l)
}

// clientChange is a command that changes one entry.
func (a *app) clientChange(use, short string, check cobra.PositionalArgs, request func(protocol.ClientID, []string) (protocol.Request, string)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args(check), RunE: func(cmd *cobra.Command, args []string) error {
		return a.onClients(cmd.Context(), func(ctx context.Context, l *link) error {
			e, err := l.entry(ctx, args[0])
			if err != nil {
				return err
			}
			r, done := request(e.ClientID, args[1:])
			if g, ok := r.(*protocol.SetGrant); ok {
				if err := g.Grant.Check(); err != nil {
					return exit.Usagef("%v", err)
				}
			}
			if _, err := client.Call[*protocol.Done](ctx, l.Client, "", r); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s (%s) %s.\n", display.Line(e.Label), e.ClientID, done)
			return err
		})
	}}
}

// minEntry is how many characters of an id name an entry.
const minEntry = 6

// entry returns the one that a name means: its id, its label, or the beginning or end of its id.
func (l *link) entry(ctx context.Context, name string) (found protocol.Entry, err error) {
	all, err := client.Call[*protocol.EntryList](ctx, l.Client, "", &protocol.ListEntries{})
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

func (a *app) showEntries(all []protocol.Entry) error {
	if len(all) == 0 {
		fmt.Fprintln(a.stdout, "No client has a key of its own. scorel web lets a browser in.")
		return nil
	}
	rows := [][]string{{"CLIENT", "NAME", "GRANT", "LAST SEEN"}}
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
		rows = append(rows, []string{string(e.ClientID), display.Line(e.Label), grant, seen})
	}
	return plain.Table(a.stdout, rows)
}
