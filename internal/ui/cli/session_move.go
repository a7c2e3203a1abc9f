package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) rewindCommand() *cobra.Command {
	var files bool
	var named []string
	cmd := a.sessionCommand("rewind SESSION EVENT", "Go back to an event (or \"start\"); what followed stays as a branch", 2,
		func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error {
			req := &protocol.RewindTo{RestoreFiles: files}
			for _, name := range named {
				abs, err := filepath.Abs(name)
				if err != nil {
					return exit.Usagef("--file %s: %w", name, err)
				}
				req.Files = append(req.Files, abs)
			}
			if args[0] != "start" {
				target := protocol.EventID(args[0])
				req.TargetEventID = &target
			}
			m, err := client.Call[*protocol.Moved](ctx, l.Client, id, req)
			if err == nil && (files || len(named) > 0) && len(m.Skipped) > 0 {
				a.code = exit.Failed
				a.notify(fmt.Sprintf("files that were not restored: %d", len(m.Skipped)))
			}
			return a.moved(id, f)(m, err)
		})
	cmd.Flags().BoolVar(&files, "files", false, "also restore the files that the agent wrote since and that are as it left them")
	cmd.Flags().StringArrayVar(&named, "file", nil, "also restore this file, though it was changed by hand since (can be repeated)")
	return cmd
}

func (a *app) branchCommand() *cobra.Command {
	return a.sessionCommand("branch SESSION EVENT", "Continue from any message of the tree", 2,
		func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error {
			return a.moved(id, f)(client.Call[*protocol.Moved](ctx, l.Client, id, &protocol.BranchTo{LeafEventID: protocol.EventID(args[0])}))
		})
}

// moved prints where the leaf went.
func (a *app) moved(id protocol.SessionID, f sessionFlags) func(*protocol.Moved, error) error {
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
		fmt.Fprintln(a.stdout, "The conversation continues from "+where+".")
		for _, p := range m.Restored {
			fmt.Fprintln(a.stdout, "restored "+display.Line(p))
		}
		for _, p := range m.Removed {
			fmt.Fprintln(a.stdout, "removed "+display.Line(p)+", which was not there before")
		}
		offered := ""
		for _, s := range m.Skipped {
			if s.Path == "" {
				fmt.Fprintln(a.stdout, "left alone a file: "+display.Line(s.Why))
				continue
			}
			fmt.Fprintln(a.stdout, "left alone "+display.Line(s.Path)+": "+display.Line(s.Why))
			if s.Offered && offered == "" {
				offered = s.Path
			}
		}
		if offered != "" {
			fmt.Fprintf(a.stdout, "To take a file back all the same, name it: scorel sessions rewind %s %s --file %s\n", id, cmp.Or(string(m.LeafID), "start"), display.Line(offered))
		}
		return nil
	}
}

// untilBegun is how often an interrupted command looks whether the turn that it has asked for
// has begun.
const untilBegun = 50 * time.Millisecond

func (a *app) compactCommand() *cobra.Command {
	var instructions string
	cmd := a.sessionCommand("compact SESSION", "Summarise the older part of the context", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			c, err := settled[*protocol.Compacted](ctx, l, id, &protocol.CompactSession{Instructions: instructions},
				func(ctx context.Context) { // what has come of it the reply says
					for turn, err := l.cancelTurn(ctx, id); turn == "" && err == nil; turn, err = l.cancelTurn(ctx, id) {
						time.Sleep(untilBegun)
					}
				})
			if err != nil {
				return exit.Interrupted(ctx, err, "the session is not compacted")
			}
			switch {
			case f.json:
				return a.printJSON(c)
			case c.EventID == "":
				fmt.Fprintln(a.stdout, "There is nothing to compact yet.")
			default:
				fmt.Fprintln(a.stdout, plain.Compacted(c)+".")
			}
			return nil
		})
	cmd.Flags().StringVar(&instructions, "instructions", "", "what the summary must keep")
	return cmd
}
