package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) verifyCommand() *cobra.Command {
	return a.sessionCommand("verify SESSION", "Verify every byte of a log", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			return exit.Interrupted(ctx, a.reported(f)(client.Call[*protocol.SessionReport](ctx, l.Client, id, &protocol.VerifySession{})), "the log was not verified to its end")
		})
}

func (a *app) repairCommand() *cobra.Command {
	var leaf string
	cmd := a.sessionCommand("repair SESSION", "Set a damaged end aside, and pick the leaf where damage may have moved it", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			return a.reported(f)(client.Call[*protocol.SessionReport](ctx, l.Client, id, &protocol.RepairSession{LeafEventID: protocol.EventID(leaf)}))
		})
	cmd.Flags().StringVar(&leaf, "leaf", "", "the event to continue from")
	return cmd
}

// reported prints what verify and repair found.
func (a *app) reported(f sessionFlags) func(*protocol.SessionReport, error) error {
	return func(r *protocol.SessionReport, err error) error {
		if err != nil {
			return err
		}
		if !r.Sound {
			a.code = exit.Failed
		}
		if f.json {
			return a.printJSON(r)
		}
		for _, s := range r.Findings {
			fmt.Fprintln(a.stdout, display.Line(s))
		}
		state := "sound"
		if !r.Sound {
			state = "damaged; see above"
		}
		_, err = fmt.Fprintf(a.stdout, "%d events, %d bytes: %s.\n", r.Events, r.Bytes, state)
		return err
	}
}

func (a *app) deleteCommand() *cobra.Command {
	var yes bool
	cmd := a.sessionCommand("delete SESSION", "Delete a session, and the payloads that only it names, for good", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			if !yes {
				return exit.Usagef("deleting cannot be undone; repeat with --yes to delete %s", id)
			}
			d, err := client.Call[*protocol.Deleted](ctx, l.Client, id, &protocol.DeleteSession{})
			if err != nil {
				return exit.Interrupted(ctx, err, fmt.Sprintf("if %s is still there, repeat the command", id))
			}
			if f.json {
				return a.printJSON(d)
			}
			fmt.Fprintln(a.stdout, "Deleted "+string(id)+".")
			for _, s := range display.Deleted(d) {
				fmt.Fprintln(a.stdout, s)
			}
			return nil
		})
	cmd.Flags().BoolVar(&yes, "yes", false, "really")
	return cmd
}

func (a *app) pruneCommand() *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{Use: "prune", Short: "Remove payloads older than a day that no session names", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withSessions(cmd.Context(), func(l *link) error {
				p, err := client.Call[*protocol.Pruned](cmd.Context(), l.Client, "", &protocol.PruneBlobs{})
				if err != nil {
					return err
				}
				if f.json {
					return a.printJSON(p)
				}
				logs := ""
				if p.ProcessLogs > 0 {
					logs = fmt.Sprintf(", and the process logs of %d deleted sessions", p.ProcessLogs)
				}
				_, err = fmt.Fprintf(a.stdout, "Removed %d payloads%s (%d bytes).\n", p.Blobs, logs, p.Bytes)
				return err
			})
		}}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}
