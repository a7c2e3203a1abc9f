package mcpcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/host/mcpservers"
	"scorel/internal/platform/sandbox"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol/display"
)

// server is a server as it is shown. Values of variables and headers are not.
type server struct {
	Name   string    `json:"name"`
	Scope  mcp.Scope `json:"scope"`
	Source string    `json:"source"`
	Type   mcp.Type  `json:"type"`
	Target string    `json:"target"` // the command line, or the address
	Status string    `json:"status"`
	Code   mcp.Code  `json:"code,omitempty"` // why it does not count
	By     string    `json:"by,omitempty"`   // the server that counts in its place
	// SignedIn is "yes", "no" or why that is not known; "" where nobody signs in, and in lists.
	SignedIn string   `json:"signedIn,omitempty"`
	Env      []string `json:"env,omitempty"` // names
	Headers  []string `json:"headers,omitempty"`
	OAuth    bool     `json:"oauth,omitempty"`
	Sandbox  bool     `json:"sandbox,omitempty"`
}

// The states of a server that need no connection.
const (
	mcpConfigured = "configured"
	mcpDisabled   = "disabled"
)

func (f *files) shownServer(e mcp.Entry) server {
	s := server{Name: e.Name, Scope: e.Scope, Source: e.Source.String(), Type: e.Type, Target: e.Shown(), Status: mcpConfigured,
		Env: slices.Sorted(maps.Keys(e.Env)), Headers: slices.Sorted(maps.Keys(e.Headers)), OAuth: e.OAuth != nil, Sandbox: e.Sandbox}
	if e.Disabled {
		s.Status = mcpDisabled
	} else if _, err := mcpservers.Reach(e, f.set.Policy, f.vars, f.still()); err != nil {
		s.Status = "not used: " + display.Line(err.Error())
	}
	return s
}

// still returns the surroundings of servers that are looked at and not started: whether
// there is a sandbox for them is found out when one is.
func (f *files) still() mcpservers.Surroundings {
	in := f.in
	in.Profile = func() (*sandbox.Profile, error) { return &sandbox.Profile{}, nil }
	return in
}

// shown returns all servers, those that do not count last.
func (f *files) shown() []server {
	out := []server{}
	for _, e := range f.set.Entries {
		out = append(out, f.shownServer(e))
	}
	for _, x := range f.set.Suppressed {
		s := f.shownServer(x.Entry)
		s.Code, s.By, s.Status = x.Code, x.By, "blocked by policy: "+x.Reason
		if x.Code == mcp.CodeReplaced || x.Code == mcp.CodeDuplicate {
			s.Status = "suppressed: " + x.Reason
		}
		out = append(out, s)
	}
	return out
}

// issue is a fault as it is printed as JSON.
type issue struct {
	Source  string   `json:"source"`
	Path    string   `json:"path,omitempty"`
	Server  string   `json:"server,omitempty"`
	Dropped bool     `json:"dropped,omitempty"`
	Code    mcp.Code `json:"code,omitempty"`
	Message string   `json:"message"`
}

func (cs *commands) listCommand() *cobra.Command {
	var asJSON, check bool
	cmd := &cobra.Command{Use: "list", Short: "List MCP servers, and what is wrong in their files", Args: cs.Args(cobra.NoArgs),
		Long: `Lists all servers with their state, those that do not count with the reason, and what
is wrong in the files. Nothing is started or called without --check, which connects with
the servers that sessions would use, as "scorel mcp test" does with one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := cs.read(cmd.Context())
			if err != nil {
				return err
			}
			return cs.list(cmd.Context(), f, check, asJSON)
		}}
	cmd.Flags().BoolVar(&check, "check", false, "connect with each server and show its state")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (cs *commands) list(ctx context.Context, f *files, check, asJSON bool) error {
	servers, issues := f.shown(), f.issues(cs)
	if check {
		cs.check(ctx, f, servers)
	}
	if asJSON {
		list := []issue{}
		for _, x := range issues {
			list = append(list, issue{x.Source.String(), x.Path, x.Server, x.Dropped, x.Code, x.Message})
		}
		return cs.printJSON(struct {
			Servers []server `json:"servers"`
			Issues  []issue  `json:"issues"`
			Managed bool     `json:"managed"`
		}{servers, list, f.set.Managed})
	}
	if !slices.ContainsFunc(servers, func(s server) bool { return s.Scope != mcp.ScopePreset || s.Status != mcpDisabled }) {
		fmt.Fprintln(cs.Stdout, `No MCP servers are configured. Use "scorel mcp add" to add one, or "scorel mcp import" to copy those of another program.`)
	}
	for _, s := range servers {
		fmt.Fprintf(cs.Stdout, "%s: %s (%s, %s) - %s\n", display.Line(s.Name), display.Line(s.Target), s.Type, s.Scope, display.Line(s.Status))
	}
	if len(issues) > 0 {
		fmt.Fprintln(cs.Stdout, "Issues:")
	}
	for _, x := range issues {
		fmt.Fprintln(cs.Stdout, "  "+display.Line(x.Error()))
	}
	return nil
}

// issues returns the faults of the files, and the variables that are missing. Those of a
// project's servers are looked at when it is trusted.
func (f *files) issues(cs *commands) []mcp.Fault {
	out := slices.Clone(f.set.Faults)
	vars := f.vars
	for _, e := range f.set.Entries {
		if e.Disabled || e.OfProject() {
			continue
		}
		vars.Inputs = map[string]string{}
		for _, in := range e.Inputs { // they are asked for when the server is used
			vars.Inputs[in.ID] = "x"
		}
		_, faults, _ := e.Expand(vars)
		out = append(out, faults...)
	}
	return out
}

func (cs *commands) getCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "get NAME", Short: "Show one MCP server", Args: cs.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := cs.read(cmd.Context())
			if err != nil {
				return err
			}
			all := f.shown()
			i := slices.IndexFunc(all, func(s server) bool { return s.Name == args[0] })
			if i < 0 {
				return f.missing(args[0])
			}
			if i < len(f.set.Entries) {
				all[i].SignedIn = f.signedIn(f.set.Entries[i])
			}
			if asJSON {
				return cs.printJSON(all[i])
			}
			return cs.get(all[i])
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (cs *commands) get(s server) error {
	target := "URL:"
	if s.Type == mcp.TypeStdio {
		target = "Command:"
	}
	rows := [][]string{{"Name:", s.Name}, {"Scope:", string(s.Scope)}, {"Status:", s.Status}, {"Type:", string(s.Type)}, {target, s.Target}, {"File:", s.Source}}
	if len(s.Env) > 0 {
		rows = append(rows, []string{"Environment:", strings.Join(s.Env, ", ")})
	}
	if len(s.Headers) > 0 {
		rows = append(rows, []string{"Headers:", strings.Join(s.Headers, ", ")})
	}
	if s.OAuth {
		rows = append(rows, []string{"OAuth:", "configured"})
	}
	if s.SignedIn != "" {
		rows = append(rows, []string{"Signed in:", s.SignedIn})
	}
	if s.By != "" {
		rows = append(rows, []string{"Suppressed by:", s.By})
	}
	if s.Sandbox {
		rows = append(rows, []string{"Sandbox:", "yes"})
	}
	if s.Code == "" && (s.Scope == mcp.ScopeLocal || s.Scope == mcp.ScopeUser && strings.Contains(s.Source, "mcp.json")) {
		rows = append(rows, []string{"Remove with:", "scorel mcp remove " + s.Name + " --scope " + string(s.Scope)})
	}
	return plain.Table(cs.Stdout, rows)
}

func (cs *commands) importCommand() *cobra.Command {
	var yes, force, asJSON bool
	cmd := &cobra.Command{Use: "import PROGRAM", Short: "Copy the MCP servers of another program", Args: cs.Args(cobra.ExactArgs(1)), ValidArgs: mcp.Programs(),
		Long: `Shows the servers that you have configured for claude, cursor, vscode, gemini or
codex, and asks about each. Those that you accept are copied to ~/.scorel/mcp.json:
for all projects, or, where the program has one for this project alone, for this
project. The program's own files stay as they are.

Where nobody can be asked, the servers are listed, nothing is changed, and the
exit code is 4 if there is something to copy.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cs.importFrom(cmd.Context(), args[0], yes, force, asJSON)
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "copy all without a question")
	cmd.Flags().BoolVar(&force, "force", false, "also those whose name is there, which they replace")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, and ask nothing")
	return cmd
}

// foreign is a server of another program.
type foreign struct {
	server
	entry mcp.Entry
	Open  bool `json:"open"` // it can be copied
	Taken bool `json:"copied"`
}

func (cs *commands) importFrom(ctx context.Context, program string, yes, force, asJSON bool) error {
	f, err := cs.read(ctx)
	if err != nil {
		return err
	}
	if f.set.Managed {
		return f.allowed(mcp.Entry{}, mcp.Vars{})
	}
	entries, files, faults, err := mcp.Import(program, f.home, f.root)
	if err != nil {
		return exit.AsUsage(err)
	}
	for _, x := range faults {
		fmt.Fprintln(cs.Stderr, "scorel: "+display.Line(x.Error()))
	}
	found, open, err := cs.found(f, entries, force)
	if err != nil {
		return err
	}
	ask := !yes && !asJSON && cs.Interactive()
	if !asJSON {
		if len(files) == 0 {
			fmt.Fprintf(cs.Stdout, "No configuration of %s was found.\n", program)
		}
		for _, x := range found {
			fmt.Fprintf(cs.Stdout, "%s: %s (%s, %s) - %s\n", display.Line(x.Name), display.Line(x.Target), x.Type, x.Scope, display.Line(x.Status))
		}
	}
	if open > 0 && (yes || ask) {
		if err := cs.copy(f, found, ask, force, asJSON); err != nil {
			return err
		}
	}
	if asJSON {
		if found == nil {
			found = []foreign{}
		}
		if err := cs.printJSON(struct {
			Files   []string  `json:"files"`
			Servers []foreign `json:"servers"`
		}{append([]string{}, files...), found}); err != nil {
			return err
		}
	}
	if open > 0 && !yes && !ask {
		fmt.Fprintf(cs.Stderr, "scorel: nobody is asked here, so nothing was changed; to copy all: scorel mcp import %s --yes\n", program)
		cs.Exit(exit.Unasked)
	}
	return nil
}

// found says of each server of another program whether it can be copied.
func (cs *commands) found(f *files, entries []mcp.Entry, force bool) (found []foreign, open int, err error) {
	for _, e := range entries {
		x := foreign{server: f.shownServer(e), entry: e, Open: true}
		there, err := f.store.Has(e.Scope, f.root, e.Name)
		if err != nil {
			return nil, 0, err
		}
		x.Status = "can be copied"
		if there && !force {
			x.Open, x.Status = false, "the name is there already"
		}
		if err := f.allowed(e, f.vars); err != nil {
			x.Open, x.Status = false, err.Error()
		}
		if x.Open {
			open++
		}
		found = append(found, x)
	}
	return found, open, nil
}

// copy copies servers, after a question for each where a person can answer. What is no
// yes is a no; q ends the questions.
func (cs *commands) copy(f *files, found []foreign, ask, force, asJSON bool) error {
	in := bufio.NewReader(io.LimitReader(cs.Stdin, 64<<10))
	for i := range found {
		x := &found[i]
		if !x.Open {
			continue
		}
		if ask {
			fmt.Fprintf(cs.Stderr, "Copy %s? [y/N/q] ", display.Line(x.Name))
			line, err := in.ReadString('\n')
			if err != nil && err != io.EOF {
				return fmt.Errorf("read the answer: %w", err)
			}
			switch strings.ToLower(strings.TrimSpace(line)) {
			case "y", "yes":
			case "q", "quit":
				return nil
			default:
				if err == io.EOF {
					return nil
				}
				continue
			}
		}
		if err := f.store.Add(x.entry.Scope, f.root, x.entry, force); err != nil {
			return err
		}
		x.Taken, x.Status = true, "copied"
		if !asJSON {
			fmt.Fprintf(cs.Stdout, "Added %s MCP server %s to %s config\n", x.Type, display.Line(x.Name), x.Scope)
		}
	}
	return nil
}
