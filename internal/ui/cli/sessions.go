package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// sessionFlags are what the session commands have in common.
type sessionFlags struct{ json bool }

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "Manage sessions", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("use one of: list, search, show, rewind, branch, compact, rename, label, clone, export, import, verify, repair, delete or prune")
		}}
	cmd.AddCommand(a.listCommand(), a.searchCommand(), a.showCommand(), a.rewindCommand(), a.branchCommand(), a.compactCommand(), a.renameCommand(), a.labelCommand(),
		a.cloneCommand(), a.exportCommand(), a.importCommand(), a.verifyCommand(), a.repairCommand(), a.deleteCommand(), a.pruneCommand())
	return cmd
}

// sessionCommand makes a command about one session.
func (a *app) sessionCommand(use, short string, n int, run func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error) *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{Use: use, Short: short, Args: args(cobra.ExactArgs(n)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := follow.Interruptible(cmd.Context())
			defer stop()
			return exit.Interrupted(ctx, a.withSessions(ctx, func(l *link) error {
				id, err := l.find(ctx, args[0])
				if err != nil {
					return err
				}
				return exit.Interrupted(ctx, run(ctx, l, id, args[1:], f), fmt.Sprintf("scorel sessions show %s shows what has come of it", id))
			}), "nothing was done")
		}}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (a *app) listCommand() *cobra.Command {
	var asJSON, all, agents bool
	var limit int
	cmd := &cobra.Command{Use: "list [WORDS]", Short: "List the sessions of this project, newest first", Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd.Context(), func(l *link) error {
				ctx := cmd.Context()
				req := &protocol.ListSessions{Query: strings.Join(args, " "), Limit: limit, Subagents: all || agents}
				if !all {
					dir, err := workDir("", "")
					if err != nil {
						return err
					}
					p, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir})
					if err != nil {
						return err
					}
					req.ProjectID = p.ProjectID
				}
				list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", req)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(list)
				}
				if len(list.Sessions) == 0 {
					hint := ""
					if !all {
						hint = " of this project; --all shows those of others"
					}
					fmt.Fprintln(a.stderr, "There are no sessions"+hint+".")
					return nil
				}
				var rows [][]string
				for _, s := range sessionTree(list.Sessions) {
					rows = append(rows, []string{string(s.SessionID), time.UnixMilli(s.UpdatedAt).Format("2006-01-02 15:04"), strings.Repeat("  ", s.level) + plain.FirstLine(s.title(), 60)})
				}
				if err := plain.Table(a.stdout, rows); err != nil {
					return err
				}
				a.tellUnknown(list.Sessions)
				if list.More {
					fmt.Fprintln(a.stderr, "There are older ones; --limit shows more.")
				}
				return nil
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "of all projects, with the sessions of sub-agents")
	cmd.Flags().BoolVar(&agents, "agents", false, "also the sessions of sub-agents, below those that they work for")
	cmd.Flags().IntVar(&limit, "limit", 50, "show at most N sessions")
	return cmd
}

// tellUnknown says which sessions of a list do not say what they are of.
func (a *app) tellUnknown(list []protocol.SessionSummary) {
	for _, s := range list {
		switch {
		case s.Damaged == "":
		case s.LockedBy != "": // nobody else can mend it now
			a.notify(fmt.Sprintf("session %s, which %s has open: %s", s.SessionID, s.LockedBy, s.Damaged))
		default:
			mends := "; scorel -p --session ID --cwd DIR makes it one of that folder, and scorel sessions delete removes it"
			if strings.HasPrefix(s.Damaged, protocol.UnreadLog) { // nor can it be deleted
				mends = ""
			}
			fmt.Fprintf(a.stderr, "scorel: session %s: %s It may be of any project. %s%s.\n", s.SessionID, display.Line(s.Damaged), display.DamagedAdvice(&s), mends)
		}
	}
}

// listedSession is a session in a list; level says how many are above it.
type listedSession struct {
	protocol.SessionSummary
	level int
}

func (s listedSession) title() string {
	title := cmp.Or(s.Title(), "(no message)") // commands alone, or nothing yet
	if s.Parent != nil {
		title = "agent " + s.Parent.Agent + ": " + title
	}
	return title
}

// sessionTree puts the sessions of sub-agents below those that they work for, in the
// order in which they were started; the others keep their order.
func sessionTree(list []protocol.SessionSummary) []listedSession {
	below := map[protocol.SessionID][]protocol.SessionSummary{}
	there := map[protocol.SessionID]bool{}
	for _, s := range list {
		there[s.SessionID] = true
	}
	top := list[:0:0]
	for _, s := range list {
		if s.Parent != nil && there[s.Parent.SessionID] && s.Parent.SessionID < s.SessionID { // ids sort by time, so there is no ring
			below[s.Parent.SessionID] = append(below[s.Parent.SessionID], s)
		} else {
			top = append(top, s)
		}
	}
	var out []listedSession
	var put func(s protocol.SessionSummary, level int)
	put = func(s protocol.SessionSummary, level int) {
		out = append(out, listedSession{s, level})
		children := below[s.SessionID]
		slices.SortFunc(children, func(a, b protocol.SessionSummary) int { return cmp.Compare(a.SessionID, b.SessionID) })
		for _, c := range children {
			put(c, level+1)
		}
	}
	for _, s := range top {
		put(s, 0)
	}
	return out
}

func (a *app) renameCommand() *cobra.Command {
	return a.sessionCommand("rename SESSION NAME", "Rename a session", 2,
		func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error {
			_, err := client.Call[*protocol.Done](ctx, l.Client, id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &args[0]}})
			return a.said(f, err, "Renamed "+string(id)+".")
		})
}

func (a *app) labelCommand() *cobra.Command {
	var remove bool
	cmd := a.sessionCommand("label SESSION EVENT LABEL", "Name an event, or remove its name with an empty one", 3,
		func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error {
			req := &protocol.SetLabel{TargetEventID: protocol.EventID(args[0])}
			if args[1] != "" && !remove {
				req.Label = &args[1]
			}
			_, err := client.Call[*protocol.Done](ctx, l.Client, id, req)
			return a.said(f, err, "Labelled.")
		})
	return cmd
}

// said prints a sentence for a command that returns nothing.
func (a *app) said(f sessionFlags, err error, sentence string) error {
	if err != nil {
		return err
	}
	if f.json {
		return a.printJSON(map[string]bool{"ok": true})
	}
	_, err = fmt.Fprintln(a.stdout, sentence)
	return err
}

func (a *app) cloneCommand() *cobra.Command {
	var at, name string
	cmd := a.sessionCommand("clone SESSION", "Copy a conversation into a new session", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			s, err := a.copyOf(ctx, l, id, at, name)
			switch {
			case err != nil:
				return err
			case f.json:
				return a.printJSON(s)
			}
			_, err = fmt.Fprintln(a.stdout, s.SessionID)
			return err
		})
	cmd.Flags().StringVar(&at, "at", "", "up to this event (default: the leaf)")
	cmd.Flags().StringVar(&name, "name", "", "the name of the copy")
	return cmd
}

func (a *app) exportCommand() *cobra.Command {
	var format, output string
	cmd := a.sessionCommand("export SESSION", "Write a session as Markdown, HTML, JSONL, or a bundle with its payloads", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			ref, err := client.Call[*protocol.BlobRef](ctx, l.Client, id, &protocol.ExportSession{Format: format})
			if err != nil {
				return exit.Interrupted(ctx, err, "nothing was written")
			}
			for _, n := range ref.Notices {
				fmt.Fprintln(a.stderr, "scorel: "+n)
			}
			if output == "" || output == "-" {
				if f.json {
					return exit.Usagef("--json needs --output, which names the file")
				}
				if format == "bundle" && headless.IsTerminal(a.stdout) {
					return exit.Usagef("a bundle is not text; name a file with --output")
				}
				return exit.Interrupted(ctx, l.Fetch(ctx, id, ref, a.stdout), "what was printed is not complete")
			}
			if err := writeNew(output, func(w io.Writer) error { return l.Fetch(ctx, id, ref, w) }); err != nil {
				return exit.Interrupted(ctx, err, output+" was not written")
			}
			if f.json {
				return a.printJSON(map[string]any{"path": output, "bytes": ref.Size})
			}
			_, err = fmt.Fprintf(a.stdout, "Wrote %s (%d bytes).\n", output, ref.Size)
			return err
		})
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown, html (one self-contained page), jsonl, or bundle (to import elsewhere)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write, which must not exist (- or without it: stdout)")
	return cmd
}

// writeNew writes a file that must not exist yet, all or nothing.
func writeNew(name string, write func(io.Writer) error) error {
	if _, err := os.Lstat(name); err == nil {
		return exit.Usagef("%s exists already; use another name", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".scorel-export-")
	if err != nil {
		return exit.Usagef("%s cannot be written: %w", name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), name)
}
