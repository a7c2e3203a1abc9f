package mcpcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scorel/internal/engine/config"
	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/trust"
	"scorel/internal/host"
	"scorel/internal/host/confinement"
	"scorel/internal/host/extensions"
	"scorel/internal/host/mcpservers"
	"scorel/internal/host/settings"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/internal/ui/exit"
	"scorel/protocol/display"
)

// New makes the command "scorel mcp". The commands of others belong to it too.
func New(cfg Config, others ...*cobra.Command) *cobra.Command {
	cs := &commands{cfg}
	cmd := &cobra.Command{Use: "mcp", Short: "Configure MCP servers", Args: cs.Args(cobra.NoArgs),
		Long: `MCP servers are programs and services that offer tools. These commands read and
write their configuration. Only "scorel mcp test", "scorel mcp list --check" and
"scorel mcp login" start or call a server. "scorel mcp serve" is one.

    scorel mcp add db -- db-mcp --read-only
    scorel mcp add wiki --transport http https://wiki.example/mcp
    scorel mcp import cursor
    scorel mcp list`,
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("say what: scorel mcp list, or see scorel mcp --help")
		}}
	cmd.AddCommand(cs.addCommand(), cs.addJSONCommand(), cs.importCommand(), cs.listCommand(), cs.getCommand(), cs.removeCommand(),
		cs.switchCommand("enable", true), cs.switchCommand("disable", false), cs.testCommand(), cs.loginCommand(), cs.logoutCommand(), cs.resetCommand(), cs.inputsCommand())
	cmd.AddCommand(others...)
	return cmd
}

// files is the configuration of MCP servers as this process sees it.
type files struct {
	version string // of this program
	home    string
	root    string // of the workspace
	store   mcp.Store
	set     mcp.Set
	in      mcpservers.Surroundings
	vars    mcp.Vars
}

// read reads all configuration of MCP servers for the working directory. A project's
// files are read to be shown.
func (cs *commands) read(ctx context.Context) (*files, error) {
	home, err := host.UserHome(cs.Environ)
	if err != nil {
		return nil, err
	}
	dir, err := cs.WorkDir()
	if err != nil {
		return nil, err
	}
	f := &files{version: cs.Version, home: home}
	f.root, _ = workspace.Root(dir, home)
	f.store = mcp.Store{FS: disk.OS(), File: mcp.UserFile(filepath.Join(home, ".scorel"))}
	user, err := config.Read(filepath.Join(home, ".scorel", "config.toml"))
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	project, err := config.Read(filepath.Join(f.root, ".scorel", "config.toml"))
	if err != nil {
		project = config.File{} // scorel config check names it
	}
	c, _, err := config.Parse(user, project, nil)
	if err != nil {
		if c, _, err = config.Parse(user, config.File{}, nil); err != nil {
			return nil, exit.AsUsage(err)
		}
	}
	st := settings.New(settings.Config{Dir: filepath.Join(home, ".scorel"), StoreDir: filepath.Join(home, ".scorel"), UserHome: home, FS: disk.OS(), Environ: cs.Environ, Confinement: sandbox.Detect, Trust: trust.New(trust.Config{Dir: filepath.Join(home, ".scorel")})})
	f.in = mcpservers.Surroundings{Environ: st.ChildEnviron(c), Root: f.root, Trust: st.Trust, Answers: mcpservers.Answers{FS: disk.OS(), File: st.CredentialsFile()},
		Profile: func() (*sandbox.Profile, error) { return confinement.ForServer(st, c, settings.Overrides{}, f.root) }}
	f.vars = mcpservers.Vars(cs.Environ, home, f.root)
	f.vars.Secret = st.SecretNames(c)
	f.set = mcp.Merge(mcp.Sources{
		Root: f.root, Managed: mcp.ReadFile(mcp.ManagedFile()), User: mcp.ReadFile(f.store.File), UserTOML: c.MCP.Servers, Faults: c.MCP.Faults,
		Project: mcp.ReadProject(f.root), Policies: c.MCP.Policies(), Vars: f.vars, Presets: mcp.Presets(),
		Extensions: mcpservers.OfExtensions(extensions.Find(ctx, st, f.root)),
	})
	return f, nil
}

// scopeOf reads the flag --scope.
func scopeOf(name string) (mcp.Scope, error) {
	switch s := mcp.Scope(name); s {
	case mcp.ScopeLocal, mcp.ScopeUser:
		return s, nil
	case mcp.ScopeProject:
		return "", exit.Usagef("--scope must be local (for this project) or user (for all): Scorel writes no files that a repository would commit; write the server into .mcp.json yourself, and then trust the project with scorel trust")
	}
	return "", exit.Usagef("--scope must be local (for this project) or user (for all); %q is neither", display.Line(name))
}

// addOptions are the flags of scorel mcp add.
type addOptions struct {
	scope, transport, url, clientID, helper string
	env, headers                            []string
	port                                    int
	force, json, always, yes, secret        bool
}

func (cs *commands) addCommand() *cobra.Command {
	var o addOptions
	cmd := &cobra.Command{Use: "add NAME [flags] URL | FILE.mcpb | -- COMMAND [ARG...]", Short: "Add an MCP server", Args: cs.Args(cobra.MinimumNArgs(1)),
		Long: `Adds a server to ~/.scorel/mcp.json: for this project alone, or with --scope user
for all. A command comes after --, an address with --transport or --url. A bundle
(.mcpb) is shown first, and unpacked below ~/.scorel/mcp-bundles.

    scorel mcp add db -e DSN='${DB_DSN}' -- db-mcp --read-only
    scorel mcp add wiki --transport http https://wiki.example/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, err := scopeOf(o.scope)
			if err != nil {
				return err
			}
			if isBundle(args[1:], cmd.ArgsLenAtDash()) && o.transport == "" && o.url == "" {
				return cs.addBundle(cmd.Context(), scope, args[0], args[1], o)
			}
			e, err := o.entry(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			if !o.secret {
				return cs.add(cmd.Context(), scope, e, o.force, o.json)
			}
			if e.OAuth == nil || e.OAuth.ClientID == "" {
				return exit.Usagef("--client-secret belongs to a client: add --client-id ID")
			}
			secret, err := cs.secret(e.Name, func() <-chan string { return lines(cmd.Context(), cs.Stdin) })
			if err != nil {
				return err
			}
			if err := cs.add(cmd.Context(), scope, e, o.force, o.json); err != nil {
				return err
			}
			return cs.keepSecret(cmd.Context(), e, secret)
		}}
	f := cmd.Flags()
	f.StringVarP(&o.scope, "scope", "s", "local", "local: for this project; user: for all of yours")
	f.StringVarP(&o.transport, "transport", "t", "", "stdio, http, sse or ws")
	f.StringArrayVarP(&o.env, "env", "e", nil, "a variable of the process, NAME=VALUE")
	f.StringArrayVarP(&o.headers, "header", "H", nil, "an HTTP header, \"NAME: VALUE\"")
	f.StringVarP(&o.url, "url", "u", "", "the address of the server")
	f.StringVar(&o.clientID, "client-id", "", "the OAuth client that is registered for you")
	f.BoolVar(&o.secret, "client-secret", false, "ask for the secret of that client, or read it from MCP_CLIENT_SECRET or stdin")
	f.IntVar(&o.port, "callback-port", 0, "the port to which a sign-in returns; 0 is any")
	f.StringVar(&o.helper, "headers-helper", "", "a shell command that prints headers as a JSON object")
	f.BoolVar(&o.always, "always-load", false, "its tools are sent to the model from the first turn on; it searches for those of the others")
	f.BoolVar(&o.force, "force", false, "replace the server that has the name")
	f.BoolVar(&o.yes, "yes", false, "add a bundle without a question")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// entry makes the entry that the flags describe.
func (o *addOptions) entry(args []string, dash int) (mcp.Entry, error) {
	e := mcp.Entry{Name: args[0], Scope: mcp.ScopeUser, Type: mcp.Type(o.transport), URL: o.url, HeadersHelper: o.helper, AlwaysLoad: o.always}
	rest := args[1:]
	switch e.Type {
	case "", mcp.TypeStdio, mcp.TypeHTTP, mcp.TypeSSE, mcp.TypeWS:
	default:
		return e, exit.Usagef("--transport must be stdio, http, sse or ws; %q is none of them", display.Line(o.transport))
	}
	remote := e.URL != "" || e.Type != "" && e.Type != mcp.TypeStdio
	switch {
	case dash == 0:
		return e, exit.Usagef("the name comes before --: scorel mcp add NAME -- COMMAND")
	case !remote && len(rest) > 0 && dash < 0 && strings.Contains(rest[0], "://"):
		return e, exit.Usagef("%s looks like an address; add --transport http (or sse, or ws), or put -- before a command", display.Line(rest[0]))
	case !remote && len(rest) == 0:
		return e, exit.Usagef("say how to reach it: a command after --, or --transport http and an address")
	case !remote:
		e.Type, e.Command, e.Args = mcp.TypeStdio, rest[0], rest[1:]
	case e.Type == mcp.TypeStdio:
		return e, exit.Usagef("--transport stdio takes a command and no --url")
	case e.URL == "" && len(rest) == 1:
		e.URL = rest[0]
	case e.URL == "" || len(rest) > 0:
		return e, exit.Usagef("--transport %s takes one address", display.Line(o.transport))
	}
	if remote && e.Type == "" {
		e.Type = mcp.TypeHTTP
	}
	var err error
	if e.Env, err = pairs("--env", "NAME=VALUE", "=", o.env); err != nil {
		return e, err
	}
	if e.Headers, err = pairs("--header", `"NAME: VALUE"`, ":", o.headers); err != nil {
		return e, err
	}
	if o.clientID != "" || o.port != 0 {
		e.OAuth = &mcp.OAuth{ClientID: o.clientID, CallbackPort: o.port}
	}
	return e, nil
}

// pairs reads flags that are a name and a value each. Values are in no error: they may be
// secrets.
func pairs(flag, form, sep string, values []string) (map[string]string, error) {
	if len(values) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, v := range values {
		name, value, ok := strings.Cut(v, sep)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, exit.Usagef("%s must be %s", flag, form)
		}
		if sep == ":" {
			value = strings.TrimSpace(value)
		}
		out[name] = value
	}
	return out, nil
}

func (cs *commands) addJSONCommand() *cobra.Command {
	var o addOptions
	cmd := &cobra.Command{Use: "add-json NAME JSON", Short: "Add an MCP server as its JSON describes it", Args: cs.Args(cobra.ExactArgs(2)),
		Long: `Adds a server as it is described in an mcp.json, with every field that there is.

    scorel mcp add-json db '{"command": "db-mcp", "sandbox": true, "denyTools": ["drop_*"]}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, err := scopeOf(o.scope)
			if err != nil {
				return err
			}
			if err := checkName(args[0]); err != nil {
				return err
			}
			e, faults, ok := mcp.ParseEntry(args[0], []byte(args[1]))
			if err := cs.faults(faults, ok); err != nil {
				return err
			}
			return cs.add(cmd.Context(), scope, e, o.force, o.json)
		}}
	cmd.Flags().StringVarP(&o.scope, "scope", "s", "local", "local: for this project; user: for all of yours")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the server that has the name")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// checkName refuses a name that no server may have.
func checkName(name string) error {
	err := mcp.CheckName(name)
	if err != nil && slices.Contains(mcp.Reserved(), strings.ToLower(name)) {
		return err
	}
	if err != nil {
		return exit.AsUsage(err)
	}
	return nil
}

// faults prints what has no effect in an entry, and returns what keeps it from counting.
func (cs *commands) faults(faults []mcp.Fault, ok bool) error {
	for _, f := range faults {
		f.Source = mcp.Source{} // it is not a file
		if f.Dropped && !ok {
			return exit.AsUsage(f)
		}
		fmt.Fprintln(cs.Stderr, "scorel: "+display.Line(f.Error()))
	}
	return nil
}

// allowed returns why an entry may not be added.
func (f *files) allowed(e mcp.Entry, vars mcp.Vars) error {
	if f.set.Managed {
		return fmt.Errorf("MCP servers are managed by the administrator's file %s; none can be changed here", mcp.ManagedFile())
	}
	full, _, _ := e.Expand(vars)
	if refusal := f.set.Policy.Check(full); refusal != nil {
		return fmt.Errorf("the MCP server %q cannot be used: %w", e.Name, refusal)
	}
	return nil
}

// added is what the commands that write print as JSON.
type added struct {
	Name  string    `json:"name"`
	Scope mcp.Scope `json:"scope"`
	Type  mcp.Type  `json:"type,omitempty"`
	File  string    `json:"file"`
}

// add checks an entry and writes it.
func (cs *commands) add(ctx context.Context, scope mcp.Scope, e mcp.Entry, force, asJSON bool) error {
	if err := checkName(e.Name); err != nil {
		return err
	}
	f, err := cs.read(ctx)
	if err != nil {
		return err
	}
	if f.set.Managed {
		return f.allowed(e, mcp.Vars{})
	}
	faults, ok := e.Check()
	if err := cs.faults(faults, ok); err != nil {
		return err
	}
	if err := f.allowed(e, f.vars); err != nil {
		return err
	}
	switch err := f.store.Add(scope, f.root, e, force); {
	case errors.Is(err, mcp.ErrThere):
		return fmt.Errorf("the MCP server %q is in the %s configuration already; use --force to replace it", e.Name, scope)
	case err != nil:
		return err
	}
	if asJSON {
		return cs.printJSON(added{e.Name, scope, e.Type, f.store.File})
	}
	fmt.Fprintf(cs.Stdout, "Added %s MCP server %s to %s config\nFile modified: %s\n", e.Type, e.Name, scope, display.Line(f.store.File))
	return nil
}

func (cs *commands) removeCommand() *cobra.Command {
	var scope string
	var asJSON bool
	cmd := &cobra.Command{Use: "remove NAME", Short: "Remove an MCP server", Args: cs.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			scopes := []mcp.Scope{mcp.ScopeLocal, mcp.ScopeUser}
			if scope != "" {
				s, err := scopeOf(scope)
				if err != nil {
					return err
				}
				scopes = []mcp.Scope{s}
			}
			return cs.remove(cmd.Context(), args[0], scopes, asJSON)
		}}
	cmd.Flags().StringVarP(&scope, "scope", "s", "", "local or user; without it the one that has the name")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (cs *commands) remove(ctx context.Context, name string, scopes []mcp.Scope, asJSON bool) error {
	f, err := cs.read(ctx)
	if err != nil {
		return err
	}
	if f.set.Managed {
		return f.allowed(mcp.Entry{Name: name}, mcp.Vars{})
	}
	var found []mcp.Scope
	for _, s := range scopes {
		there, err := f.store.Has(s, f.root, name)
		if err != nil {
			return err
		}
		if there {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		if e, ok := f.set.Lookup(name); ok {
			return fmt.Errorf("the MCP server %q is written in %s; remove it there, or use scorel mcp disable %s", name, e.Source, name)
		}
		return fmt.Errorf("there is no MCP server %q in %s", display.Line(name), f.store.File)
	case 2:
		return fmt.Errorf("the MCP server %q is in the local and in the user configuration; say which: scorel mcp remove %s --scope local, or --scope user", name, name)
	}
	forget := f.forgets(found[0], name)
	gone := f.entryOf(found[0], name)
	if err := f.store.Remove(found[0], f.root, name); err != nil {
		return err
	}
	if _, err := forget(); err != nil {
		return fmt.Errorf("the MCP server %q is removed; its tokens are not: %w", name, err)
	}
	if err := f.dropBundle(gone); err != nil {
		return fmt.Errorf("the MCP server %q is removed; %w", name, err)
	}
	if asJSON {
		return cs.printJSON(added{Name: name, Scope: found[0], File: f.store.File})
	}
	fmt.Fprintf(cs.Stdout, "Removed MCP server %s from %s config\nFile modified: %s\n", display.Line(name), found[0], display.Line(f.store.File))
	return nil
}

func (cs *commands) switchCommand(verb string, on bool) *cobra.Command {
	var asJSON bool
	short := map[bool]string{true: "Let an MCP server be used again", false: "Keep an MCP server without using it"}[on]
	cmd := &cobra.Command{Use: verb + " NAME", Short: short, Args: cs.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := cs.read(cmd.Context())
			if err != nil {
				return err
			}
			if f.set.Managed {
				return f.allowed(mcp.Entry{Name: args[0]}, mcp.Vars{})
			}
			e, ok := f.set.Lookup(args[0])
			if !ok {
				return f.missing(args[0])
			}
			if err := f.store.Enable(f.root, e, on); err != nil {
				return err
			}
			if asJSON {
				return cs.printJSON(struct {
					Name    string    `json:"name"`
					Scope   mcp.Scope `json:"scope"`
					Enabled bool      `json:"enabled"`
				}{e.Name, e.Scope, on})
			}
			fmt.Fprintf(cs.Stdout, "MCP server %s is %sd\n", display.Line(e.Name), verb)
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// missing says that no server of a name counts, and why, where that is known.
func (f *files) missing(name string) error {
	for _, s := range f.set.Suppressed {
		if s.Entry.Name == name {
			return fmt.Errorf("the MCP server %q does not count: %s", name, s.Reason)
		}
	}
	for _, x := range f.set.Faults {
		if x.Server == name {
			return x
		}
	}
	return fmt.Errorf("there is no MCP server %q; see scorel mcp list", display.Line(name))
}
