package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// trustOptions are the flags of scorel trust.
type trustOptions struct {
	without   []string
	json, yes bool
	hash      string
}

func (a *app) trustCommand() *cobra.Command {
	var o trustOptions
	cmd := &cobra.Command{
		Use:   "trust [PATH]",
		Short: "Show what a project's files could do, and let them",
		Long: `A project's files are text until you trust them: no setting of its config.toml
counts (but for what it denies), and no MCP server, agent, skill, hook or
extension of it starts. This shows each such file with what it could do and asks.

What you trust are exactly these files. When one changes, only its item stops
counting, and scorel trust shows the change.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.yes != (o.hash != "") {
				return exit.Usagef("--yes and --hash go together: the hash names the list of files that you have seen")
			}
			return a.trust(cmd.Context(), o, strings.Join(args, ""))
		}}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, and ask nothing")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "trust without a question what --hash names")
	cmd.Flags().StringVar(&o.hash, "hash", "", "the list of files that may be trusted, as an earlier scorel trust printed it")
	cmd.Flags().StringArrayVar(&o.without, "without-server", nil, "an MCP server of the project's files that is left out; repeat for more")
	cmd.AddCommand(a.trustListCommand(), a.trustRevokeCommand())
	return cmd
}

// trust shows what of a project is trusted and trusts it when that is said.
func (a *app) trust(ctx context.Context, o trustOptions, path string) error {
	dir, err := workDir("", path)
	if err != nil {
		return err
	}
	return a.with(ctx, func(l *link) error {
		p, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir})
		if err != nil {
			return err
		}
		r, err := client.Call[*protocol.TrustReport](ctx, l.Client, "", &protocol.GetTrust{ProjectID: p.ProjectID})
		if err != nil {
			return err
		}
		if o.yes {
			return a.approve(ctx, l, o, r, o.hash)
		}
		ask, err := a.showTrust(o, r)
		if err != nil || !ask {
			return err
		}
		again := "scorel trust --yes --hash " + r.Hash
		for _, name := range o.without {
			again += " --without-server " + headless.QuoteShell(display.Line(name))
		}
		again += " " + headless.QuoteShell(display.Line(r.Root))
		if o.json || !a.interactive() {
			fmt.Fprintln(a.stderr, "scorel: nobody is asked here; to trust exactly these files: "+again)
			a.code = exit.Unasked
			return nil
		}
		if len(r.Servers) > 0 && len(o.without) == 0 {
			fmt.Fprintf(a.stderr, "MCP servers: %s. Leave one out with --without-server NAME.\n", display.Line(strings.Join(r.Servers, ", ")))
		}
		fmt.Fprint(a.stderr, "Trust these files? [y/N] ")
		line, err := bufio.NewReader(io.LimitReader(a.stdin, 1000)).ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read the answer: %w", err)
		}
		if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
			fmt.Fprintln(a.stderr, "Nothing was changed.")
			a.code = exit.Failed
			return nil
		}
		return a.approve(ctx, l, o, r, r.Hash)
	})
}

// interactive reports whether a person can be asked.
func (a *app) interactive() bool {
	in, ok := a.stdin.(io.Writer) // an *os.File
	return ok && headless.IsTerminal(in) && headless.IsTerminal(a.stdout)
}

// approve trusts the list that hash names. Where the files are others by now it
// shows them.
func (a *app) approve(ctx context.Context, l *link, o trustOptions, r *protocol.TrustReport, hash string) error {
	t, err := client.Call[*protocol.ProjectTrust](ctx, l.Client, "", &protocol.TrustProject{ProjectID: r.ProjectID, Hash: hash, Trusted: true, WithoutServers: o.without})
	if err != nil {
		var now protocol.TrustReport
		if pe := protocol.AsError(err); pe.Code == protocol.CodeConflict && json.Unmarshal(pe.Details, &now) == nil {
			if _, serr := a.showTrust(o, &now); serr != nil {
				return serr
			}
		}
		return err
	}
	a.trustChanged(ctx, r.Root)
	for _, n := range t.Notices {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
	}
	if o.json {
		return a.printJSON(t)
	}
	switch {
	case t.State == protocol.TrustNone:
		fmt.Fprintln(a.stdout, "There is nothing to trust.")
	case t.Count > 0:
		fmt.Fprintf(a.stdout, "Trusted, except %s.\n", display.Line(strings.Join(t.Ignored, ", ")))
	default:
		fmt.Fprintln(a.stdout, "Trusted. It applies from the next message on; scorel trust revoke takes it back.")
	}
	return nil
}

// trustChanged has the host that serves, if there is one, look at a project again, whose trust
// this process has changed: its heartbeats may begin, or must not go on.
func (a *app) trustChanged(ctx context.Context, root string) {
	dir, err := a.scorelDir()
	if err != nil {
		return
	}
	if _, live, err := daemon.Find(dir); err != nil || !live {
		return // the next host looks when it starts
	}
	if _, err := os.Stat(root); err != nil {
		return // it finds nothing at the next run
	}
	l, err := a.reach(ctx, reachOptions{name: "scorel trust"})
	if err == nil {
		defer l.Close()
		_, err = client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: root})
	}
	if err != nil {
		fmt.Fprintln(a.stderr, "scorel: the running host was not told, so new heartbeats begin when it starts again: "+display.Line(err.Error()))
	}
}

// showTrust prints what of a project is trusted, and reports whether there is something that
// could be trusted and is not.
func (a *app) showTrust(o trustOptions, r *protocol.TrustReport) (ask bool, err error) {
	for _, it := range r.Items {
		ask = ask || it.Status != "trusted" && it.Problem == ""
	}
	for _, n := range r.Notices {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
	}
	if o.json {
		return ask, a.printJSON(r)
	}
	w := bufio.NewWriter(a.stdout)
	root := display.Line(r.Root)
	switch r.State {
	case protocol.TrustNotPossible:
		a.code = exit.Failed
		fmt.Fprintln(w, display.Line(r.Problem))
	case protocol.TrustNone:
		fmt.Fprintf(w, "There is nothing in %s that needs trust.\n", root)
	case protocol.TrustAll:
		fmt.Fprintf(w, "%s is trusted since %s.\n", root, time.UnixMilli(r.TrustedAt).Format("2006-01-02 15:04"))
	case protocol.TrustPart:
		fmt.Fprintf(w, "%s was trusted, but not as it is now.\n", root)
	default:
		fmt.Fprintf(w, "%s is not trusted. These files could run commands, add tools or change settings, and are ignored:\n", root)
	}
	for _, it := range r.Items {
		showTrustItem(w, it)
	}
	if ask {
		fmt.Fprintf(w, "\nThe list of these files is %s.\n", r.Hash)
	}
	return ask, w.Flush()
}

func showTrustItem(w io.Writer, it protocol.TrustItem) {
	status := ""
	switch it.Status {
	case "changed":
		status = " (changed since it was trusted)"
	case "new":
		status = " (new)"
	case "trusted":
		status = " (trusted)"
	}
	fmt.Fprintf(w, "\n%s: %s%s\n", display.Line(it.Name), trustKind(it.Kind), status)
	if it.Problem != "" {
		fmt.Fprintf(w, "    cannot be trusted: it %s\n", display.Line(it.Problem))
		return
	}
	for _, d := range it.Does {
		fmt.Fprintf(w, "    | %s\n", display.Line(d))
	}
	if it.Status == "trusted" {
		return
	}
	for _, f := range it.Files {
		target := ""
		if f.Target != "" {
			target = " -> " + display.Line(f.Target)
		}
		change := ""
		if f.Change != "" {
			change = ", " + f.Change
		}
		fmt.Fprintf(w, "    %s%s (%d bytes, sha256 %.16s%s)\n", display.Line(f.Name), target, f.Size, f.SHA256, change)
	}
	for _, name := range it.Gone {
		fmt.Fprintf(w, "    %s (removed)\n", display.Line(name))
	}
}

// trustKind says what an item of a kind could do.
func trustKind(kind string) string {
	switch kind {
	case "config":
		return "settings of the project"
	case "settings":
		return "settings of Claude Code with hooks"
	case "hook":
		return "runs when a hook of the project does"
	case "mcp":
		return "starts programs or connects to servers, and offers their tools to the model"
	case "program":
		return "runs, or is read, when a server of the project is started"
	case "agent":
		return "an agent with instructions and tools of its own"
	case "command":
		return "a slash command that runs shell commands"
	case "skill":
		return "a skill with a program that the model can run"
	case "extension":
		return "code that runs beside every session of the project"
	case "heartbeat":
		return "sends prompts by itself, again and again, while nobody is watching"
	case "template":
		return "a template of jobs, which work in the background"
	}
	return kind
}

func (a *app) trustListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the trusted folders", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(l *link) error {
				list, err := client.Call[*protocol.ProjectList](cmd.Context(), l.Client, "", &protocol.ListProjects{})
				if err != nil {
					return err
				}
				trusted := []protocol.Project{}
				for _, p := range list.Projects {
					if p.TrustedAt != 0 {
						trusted = append(trusted, p)
					}
				}
				for _, n := range list.Notices {
					a.notifyOnce(n)
				}
				if asJSON {
					return a.printJSON(map[string]any{"folders": trusted})
				}
				if len(trusted) == 0 {
					fmt.Fprintln(a.stderr, "No folder is trusted.")
				}
				var rows [][]string
				for _, p := range trusted {
					rows = append(rows, []string{p.Root, time.UnixMilli(p.TrustedAt).Format("2006-01-02 15:04")})
				}
				return plain.Table(a.stdout, rows)
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) trustRevokeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "revoke [PATH]", Short: "Revoke the trust of a folder", Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(l *link) error {
				p, err := a.trustedFolder(ctx, l, strings.Join(args, ""))
				if err != nil {
					return err
				}
				t, err := client.Call[*protocol.ProjectTrust](ctx, l.Client, "", &protocol.TrustProject{ProjectID: p.ProjectID})
				if err != nil {
					return err
				}
				a.trustChanged(ctx, p.Root)
				if asJSON {
					return a.printJSON(t)
				}
				_, err = fmt.Fprintf(a.stdout, "%s is not trusted any more.\n", display.Line(p.Root))
				return err
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// trustedFolder finds a trusted folder by its path, which may be gone.
func (a *app) trustedFolder(ctx context.Context, l *link, path string) (*protocol.Project, error) {
	want, err := filepath.Abs(path)
	if err != nil {
		return nil, exit.Usagef("%s: %w", display.Line(path), err)
	}
	tries := []string{want}
	if p, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: want}); err == nil {
		tries = append(tries, p.Root)
	}
	list, err := client.Call[*protocol.ProjectList](ctx, l.Client, "", &protocol.ListProjects{})
	if err != nil {
		return nil, err
	}
	for i, p := range list.Projects {
		for _, root := range tries {
			if p.Root == root && p.TrustedAt != 0 {
				return &list.Projects[i], nil
			}
		}
	}
	return nil, exit.Usagef("%s is not trusted; scorel trust list shows what is", display.Line(want))
}

// trustLines says what of a project does not count: nothing when all does, else
// one line, and one for what is wrong.
func trustLines(p *protocol.Project) (lines []string) {
	t := p.Trust
	if t == nil {
		return nil
	}
	for _, n := range t.Notices {
		lines = append(lines, display.Line(n))
	}
	if t.Count == 0 {
		return lines
	}
	what := strings.Join(t.Ignored, ", ")
	if more := t.Count - len(t.Ignored); more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	why := "this project is not trusted"
	if t.State == protocol.TrustPart {
		why = "files of this project are not those that you trusted"
	}
	return append(lines, fmt.Sprintf("%s, so these are ignored: %s; look at them with: scorel trust %s", why, display.Line(what), headless.QuoteShell(display.Line(p.Root))))
}
