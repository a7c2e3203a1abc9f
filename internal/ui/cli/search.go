package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/text/cell"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// searchOptions are the flags of sessions search.
type searchOptions struct {
	json      bool
	limit     int
	project   string
	matchCase bool
}

func (a *app) searchCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{Use: "search WORDS…", Short: "Find words in all conversations, newest first",
		Long: `Finds the messages, calls, results, summaries, names and labels that contain all
words. A word with blanks is given in quotes. A word without capitals is found in
any case.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd.Context(), func(l *link) error { return a.search(cmd.Context(), l, o, args) })
		}}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.IntVar(&o.limit, "limit", 50, "show at most N hits, up to 500")
	f.StringVar(&o.project, "project", "", "only in the project of this folder")
	f.BoolVar(&o.matchCase, "case", false, "match case, also for words without capitals")
	return cmd
}

func (a *app) search(ctx context.Context, l *link, o searchOptions, words []string) error {
	if o.limit < 1 {
		return exit.Usagef("--limit is at least 1")
	}
	req := &protocol.SearchSessions{Words: words, MatchCase: o.matchCase, Limit: o.limit}
	if o.project != "" {
		dir, err := filepath.Abs(o.project) // the host is elsewhere
		if err != nil {
			return err
		}
		p, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir})
		if err != nil {
			return err
		}
		req.ProjectID = p.ProjectID
	}
	found, err := client.Call[*protocol.SearchResult](ctx, l.Client, "", req)
	if err != nil {
		return err
	}
	for _, text := range display.Unsearched(found) {
		a.notify(text)
	}
	if o.json {
		return a.printJSON(found)
	}
	return a.printFound(found)
}

// printFound prints hits for people.
func (a *app) printFound(found *protocol.SearchResult) error {
	mark := func(s string) string { return s }
	if headless.IsTerminal(a.stdout) && !a.noColor() {
		mark = func(s string) string { return "\x1b[1;33m" + s + "\x1b[0m" }
	}
	var s strings.Builder
	left := false // some hit is on a branch that was left
	for i, f := range found.Sessions {
		if i > 0 {
			s.WriteByte('\n')
		}
		title := plain.FirstLine(display.Line(protocol.Title(f.Meta.Name, f.FirstPrompt)), 60)
		fmt.Fprintf(&s, "%s  %s  %s\n", f.SessionID, time.UnixMilli(f.UpdatedAt).Format("2006-01-02 15:04"), title)
		rows := make([][]string, len(f.Hits))
		for k, h := range f.Hits {
			place := " "
			if !h.Active {
				place, left = "~", true
			}
			rows[k] = []string{place + " " + cmp.Or(string(h.EventID), "(name)"), hitKind(h), snippet(h, mark)}
		}
		for _, line := range cell.Columns(rows) {
			s.WriteString(line + "\n")
		}
		switch {
		case f.More >= 1000: // the host counts no further
			s.WriteString("  and 1,000 or more here\n")
		case f.More > 0:
			fmt.Fprintf(&s, "  and %d more here\n", f.More)
		}
	}
	if _, err := fmt.Fprint(a.stdout, s.String()); err != nil {
		return err
	}
	if len(found.Sessions) == 0 {
		fmt.Fprintln(a.stderr, "Nothing is found.")
		return nil
	}
	if found.More {
		fmt.Fprintln(a.stderr, "There may be older hits; --limit shows more.")
	}
	if len(found.Sessions) > 0 {
		fmt.Fprintln(a.stderr, "Read one with scorel sessions show SESSION; resume it with scorel -p --session SESSION \"…\".")
	}
	if left {
		fmt.Fprintln(a.stderr, "~ is not on the active path; scorel sessions branch SESSION EVENT goes there.")
	}
	return nil
}

// snippet returns the text around a hit, with what was searched for marked.
func snippet(h protocol.SearchHit, mark func(string) string) string {
	var s strings.Builder
	for _, p := range h.Snippet {
		piece := display.Line(p.Text)
		if p.Match {
			piece = mark(piece)
		}
		s.WriteString(piece)
	}
	return s.String()
}

// hitKind says in a word where a hit is.
func hitKind(h protocol.SearchHit) string {
	switch {
	case h.Role == protocol.RoleToolResult:
		return "result"
	case h.Role != "":
		return string(h.Role)
	case h.EventID == "":
		return "session"
	}
	if s := protocol.SpecOfEvent(h.Type); s != nil && s.Word != "" {
		return s.Word
	}
	return display.Line(string(h.Type))
}

// noColor reports whether the person wants no colours (https://no-color.org).
func (a *app) noColor() bool {
	for _, kv := range a.environ {
		if strings.HasPrefix(kv, "NO_COLOR=") && kv != "NO_COLOR=" {
			return true
		}
	}
	return a.dumb()
}

// dumb reports whether the terminal knows no control sequences, as the shell of an editor.
func (a *app) dumb() bool { return slices.Contains(a.environ, "TERM=dumb") }
