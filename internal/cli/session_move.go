package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) rewindCommand() *cobra.Command {
	var files bool
	cmd := a.sessionCommand("rewind SESSION EVENT", "Go back to an event (or \"start\"); what followed stays as a branch", 2,
		func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error {
			req := &protocol.RewindTo{RestoreFiles: files}
			if args[0] != "start" {
				target := protocol.EventID(args[0])
				req.TargetEventID = &target
			}
			return a.moved(f)(client.Call[*protocol.Moved](ctx, l.Client, id, req))
		})
	cmd.Flags().BoolVar(&files, "files", false, "also restore the files that the agent wrote since")
	return cmd
}

func (a *app) branchCommand() *cobra.Command {
	return a.sessionCommand("branch SESSION EVENT", "Go on from any message of the tree", 2,
		func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error {
			return a.moved(f)(client.Call[*protocol.Moved](ctx, l.Client, id, &protocol.BranchTo{LeafEventID: protocol.EventID(args[0])}))
		})
}

// moved prints where the leaf went.
func (a *app) moved(f sessionFlags) func(*protocol.Moved, error) error {
	return func(m *protocol.Moved, err error) error {
		if err != nil {
			return err
		}
		if f.json {
			return a.printJSON(m)
		}
		where := string(m.LeafID)
		if where == "" {
			where = "the start"
		}
		fmt.Fprintln(a.stdout, "The conversation goes on from "+where+".")
		for _, p := range m.Restored {
			fmt.Fprintln(a.stdout, "restored "+display.Line(p))
		}
		for _, s := range m.Skipped {
			fmt.Fprintln(a.stdout, "left alone "+display.Line(s.Path)+": "+display.Line(s.Why))
		}
		return nil
	}
}

func (a *app) compactCommand() *cobra.Command {
	var instructions string
	cmd := a.sessionCommand("compact SESSION", "Summarise the older part of the context", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			c, err := client.Call[*protocol.Compacted](ctx, l.Client, id, &protocol.CompactSession{Instructions: instructions})
			if err != nil {
				return err
			}
			switch {
			case f.json:
				return a.printJSON(c)
			case c.EventID == "":
				fmt.Fprintln(a.stdout, "There is nothing to compact yet.")
			default:
				fmt.Fprintf(a.stdout, "Compacted: %d → %d tokens.\n", c.TokensBefore, c.TokensAfter)
			}
			return nil
		})
	cmd.Flags().StringVar(&instructions, "instructions", "", "what the summary must keep")
	return cmd
}
