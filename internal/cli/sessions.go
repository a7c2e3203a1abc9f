package cli

import (
	"cmp"
	"context"
	"crypto/rand"
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
	"scorel/protocol"
	"scorel/protocol/display"
)

// sessionFlags are what the session commands have in common.
type sessionFlags struct{ json bool }

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "List, show, move in and keep conversations", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return usagef("say which: list, search, show, rewind, branch, compact, rename, label, clone, export, import, verify, repair, delete or prune")
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
			return a.withSessions(cmd.Context(), func(l *link) error {
				id, err := l.find(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return run(cmd.Context(), l, id, args[1:], f)
			})
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
					dir, err := workDir("")
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
					rows = append(rows, []string{string(s.SessionID), time.UnixMilli(s.UpdatedAt).Format("2006-01-02 15:04"), strings.Repeat("  ", s.level) + firstLine(s.title(), 60)})
				}
				if err := columns(a.stdout, rows); err != nil {
					return err
				}
				if list.More {
					fmt.Fprintln(a.stderr, "There are older ones; --limit shows more.")
				}
				return nil
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "of all projects, with the sessions of sub-agents")
	cmd.Flags().BoolVar(&agents, "agents", false, "also the sessions of sub-agents, below those that they work for")
	cmd.Flags().IntVar(&limit, "limit", 50, "at most so many")
	return cmd
}

// listedSession is a session in a list; level says how many stand above it.
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

func firstLine(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func (a *app) showCommand() *cobra.Command {
	var limit int
	var tree bool
	cmd := a.sessionCommand("show SESSION", "Show a conversation, or with --tree all its branches", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			if tree {
				return a.showTree(ctx, l, id, f)
			}
			page, err := client.Call[*protocol.Events](ctx, l.Client, id, &protocol.GetPath{Limit: limit})
			if err != nil {
				return err
			}
			events := page.Events
			for i, k := 0, len(events)-1; i < k; i, k = i+1, k-1 {
				events[i], events[k] = events[k], events[i]
			}
			if f.json {
				return a.printJSON(page)
			}
			if page.More {
				fmt.Fprintln(a.stderr, "Older messages are left out; --limit shows more.")
			}
			for _, e := range events {
				if err := a.showEvent(e); err != nil {
					return err
				}
			}
			return nil
		})
	cmd.Flags().IntVar(&limit, "limit", 200, "at most so many messages, the newest")
	cmd.Flags().BoolVar(&tree, "tree", false, "all events in the order of the log, the active path marked")
	return cmd
}

// showEvent prints one event as people see it.
func (a *app) showEvent(e protocol.Event) error {
	it := display.Of(e)
	if it.Kind == display.Hidden {
		return nil
	}
	var s strings.Builder
	fmt.Fprintf(&s, "── %s  %s\n", headline(it), e.ID)
	for _, part := range append([]display.Item{it}, it.Parts...) {
		switch {
		case part.Kind == display.Tool && part.Input != "" && part.Role == "":
			fmt.Fprintf(&s, "%s %s\n", part.ToolName, display.Summary([]byte(part.Input)))
		case part.Kind == display.Thinking:
			s.WriteString(indent(part.Text))
		case part.Kind == display.Tool:
			s.WriteString(indent(part.Text))
		case part.Text != "":
			s.WriteString(strings.TrimRight(part.Text, "\n") + "\n")
		}
	}
	_, err := io.WriteString(a.stdout, s.String())
	return err
}

// headline says in one line what an item is.
func headline(it display.Item) string {
	words := []string{string(it.Kind)}
	switch {
	case it.Role != "" && it.Kind == display.Bubble:
		words[0] = string(it.Role)
	case it.ToolName != "":
		words[0] = it.ToolName
	}
	if it.Title != "" && it.Title != words[0] {
		words = append(words, it.Title)
	}
	if it.Status != "" && it.Status != display.OK {
		words = append(words, "("+string(it.Status)+")")
	}
	return strings.Join(words, " ")
}

// indent indents every line of a text by two spaces and ends it with a newline.
func indent(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
}

// tree gives all events of a session in the order of the log.
func (l *link) tree(ctx context.Context, id protocol.SessionID) (events []protocol.Event, leaf protocol.EventID, err error) {
	for after := protocol.Seq(0); ; {
		page, err := client.Call[*protocol.Events](ctx, l.Client, id, &protocol.GetTree{AfterSeq: after, Limit: 1000})
		if err != nil {
			return nil, "", err
		}
		events, leaf = append(events, page.Events...), page.LeafID
		if !page.More || len(page.Events) == 0 {
			return events, leaf, nil
		}
		after = page.Events[len(page.Events)-1].Seq
	}
}

// treeLines gives a line for each event, with a mark at those of the active path.
func treeLines(events []protocol.Event, leaf protocol.EventID) []string {
	parent := map[protocol.EventID]protocol.EventID{}
	for _, e := range events {
		parent[e.ID] = e.ParentID
	}
	active := map[protocol.EventID]bool{}
	for id := leaf; id != "" && !active[id]; id = parent[id] {
		active[id] = true
	}
	var lines []string
	for _, e := range events {
		mark := " "
		if active[e.ID] {
			mark = "*"
		}
		it := display.Of(e)
		text := it.Text
		for _, p := range it.Parts {
			if text == "" {
				text = cmp.Or(p.Text, p.ToolName)
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s  %-28s %s", mark, e.ID, headline(it), firstLine(text, 80)))
	}
	return lines
}

func (a *app) showTree(ctx context.Context, l *link, id protocol.SessionID, f sessionFlags) error {
	events, leaf, err := l.tree(ctx, id)
	if err != nil {
		return err
	}
	if f.json {
		return a.printJSON(&protocol.Events{Events: events, LeafID: leaf})
	}
	for _, line := range treeLines(events, leaf) {
		if _, err := fmt.Fprintln(a.stdout, line); err != nil {
			return err
		}
	}
	return nil
}

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

func (a *app) renameCommand() *cobra.Command {
	return a.sessionCommand("rename SESSION NAME", "Give a session a name", 2,
		func(ctx context.Context, l *link, id protocol.SessionID, args []string, f sessionFlags) error {
			_, err := client.Call[*protocol.Done](ctx, l.Client, id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &args[0]}})
			return a.said(f, err, "Renamed "+string(id)+".")
		})
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

// said prints a sentence for a command that gives nothing back.
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
			next := protocol.NewSessionID(time.Now(), rand.Reader)
			s, err := client.Call[*protocol.SessionSummary](ctx, l.Client, next, &protocol.CloneSession{FromSessionID: id, FromEventID: protocol.EventID(at), Name: name})
			if err != nil {
				return err
			}
			if f.json {
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
				return err
			}
			for _, n := range ref.Notices {
				fmt.Fprintln(a.stderr, "scorel: "+n)
			}
			if output == "" {
				if f.json {
					return usagef("--json needs --output, to say where the session goes")
				}
				if format == "bundle" && isTerminal(a.stdout) {
					return usagef("a bundle is no text; name a file with --output")
				}
				return l.Fetch(ctx, id, ref, a.stdout)
			}
			if err := writeNew(output, func(w io.Writer) error { return l.Fetch(ctx, id, ref, w) }); err != nil {
				return err
			}
			if f.json {
				return a.printJSON(map[string]any{"path": output, "bytes": ref.Size})
			}
			_, err = fmt.Fprintf(a.stdout, "Wrote %s (%d bytes).\n", output, ref.Size)
			return err
		})
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown, html (one page that stands alone), jsonl, or bundle (to import elsewhere)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write (default: stdout); it must not exist")
	return cmd
}

// writeNew writes a file that must not exist yet, all or nothing.
func writeNew(name string, write func(io.Writer) error) error {
	if _, err := os.Lstat(name); err == nil {
		return usagef("%s exists already; give another name", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".scorel-export-")
	if err != nil {
		return usagef("%s cannot be written: %w", name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), name)
}

func (a *app) verifyCommand() *cobra.Command {
	return a.sessionCommand("verify SESSION", "Read every byte of a log and say what is wrong with it", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			return a.reported(f)(client.Call[*protocol.SessionReport](ctx, l.Client, id, &protocol.VerifySession{}))
		})
}

func (a *app) repairCommand() *cobra.Command {
	var leaf string
	cmd := a.sessionCommand("repair SESSION", "Set a damaged end aside, and pick the leaf where damage may have moved it", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			return a.reported(f)(client.Call[*protocol.SessionReport](ctx, l.Client, id, &protocol.RepairSession{LeafEventID: protocol.EventID(leaf)}))
		})
	cmd.Flags().StringVar(&leaf, "leaf", "", "the event to go on from")
	return cmd
}

// reported prints what verify and repair found.
func (a *app) reported(f sessionFlags) func(*protocol.SessionReport, error) error {
	return func(r *protocol.SessionReport, err error) error {
		if err != nil {
			return err
		}
		if !r.Sound {
			a.code = exitFailed
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
	cmd := a.sessionCommand("delete SESSION", "Delete a session's log for good", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			if !yes {
				return usagef("deleting cannot be undone; repeat with --yes to delete %s", id)
			}
			_, err := client.Call[*protocol.Done](ctx, l.Client, id, &protocol.DeleteSession{})
			return a.said(f, err, "Deleted "+string(id)+".")
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
