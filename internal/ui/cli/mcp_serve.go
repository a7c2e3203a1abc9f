package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"scorel/internal/ui/cli/mcpcmd"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/mcpserve"
	"scorel/protocol/display"
)

// mcpServeOptions are the flags of scorel mcp serve.
type mcpServeOptions struct {
	http   string
	listen bool
	tools  string
}

// mcpCommand has all commands of MCP: of mcpcmd, and those that need a host.
func (a *app) mcpCommand() *cobra.Command {
	return mcpcmd.New(mcpcmd.Config{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Environ: a.environ, Version: Version, Args: args,
		Exit: func(code int) { a.code = code }, Interactive: a.interactive, WorkDir: func() (string, error) { return workDir("", "") }},
		a.mcpServeCommand(), a.mcpLogsCommand())
}

func (a *app) mcpServeCommand() *cobra.Command {
	var o mcpServeOptions
	cmd := &cobra.Command{Use: "serve", Short: "Serve sessions to other programs, as an MCP server", Args: args(cobra.NoArgs),
		Long: `Is an MCP server on stdin and stdout, or with --http on an address: other agents and
editors start sessions, wait for them, answer their questions and read them. Sessions
that name no folder work in the current one. A host is started in the background when
none runs.

With --tools, Scorel's own tools are served, too: readonly, coding or all. They run
under your permission rules and hooks and in the sandbox; what you would be asked
about is denied.

Over HTTP a client sends the token that is in ~/.scorel/mcp-serve.header.

    claude mcp add scorel -- scorel mcp serve
    scorel mcp serve --tools readonly
    scorel mcp serve --http 127.0.0.1:8765`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcpServe(cmd.Context(), o) }}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.http, "http", "", "serve over HTTP on this address of this machine, HOST:PORT; port 0 is any that is free")
	f.BoolVar(&o.listen, "listen", false, "with --http: the address may be one that other machines reach")
	f.StringVar(&o.tools, "tools", "none", "the built-in tools that are served: readonly, coding, all or none")
	return cmd
}

func (a *app) mcpServe(ctx context.Context, o mcpServeOptions) error {
	switch o.tools {
	case "readonly", "coding", "all", "none":
	default:
		return exit.Usagef("--tools must be readonly, coding, all or none; %q is none of them. Single tools are not served, nor what other MCP servers offer, also not their resources: connect the other program with those servers", display.Line(o.tools))
	}
	if o.listen && o.http == "" {
		return exit.Usagef("--listen belongs to --http HOST:PORT")
	}
	addr := ""
	var err error
	if o.http != "" {
		if addr, err = mcpserve.CheckAddress(o.http, o.listen); err != nil {
			return exit.AsUsage(err)
		}
	}
	dir, err := workDir("", "")
	if err != nil {
		return err
	}
	defer follow.SurvivePipe()()
	ctx, stop := follow.Interruptible(ctx)
	defer stop()
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel mcp serve", interactive: true, lasting: true, onState: a.notifyOutages(nil), restart: func() bool { return true },
		onOther: a.notify}) // and no more: few people see what a server writes there
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := mcpserve.New(ctx, mcpserve.Config{Client: l.Client, WorkDir: dir, Preset: o.tools, Version: Version, Rand: rand.Reader,
		Notify: a.notify})
	if err != nil {
		return err
	}
	defer s.Close()
	if addr == "" {
		return s.Stdio(ctx, a.stdin, a.stdout)
	}
	return a.mcpServeHTTP(ctx, s, addr)
}

// mcpServeHTTP serves on an address, which it prints; the token is only in its file.
func (a *app) mcpServeHTTP(ctx context.Context, s *mcpserve.Server, addr string) error {
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	token, replaced, err := mcpserve.Token(dir, rand.Reader)
	if err != nil {
		return err
	}
	if replaced {
		fmt.Fprintf(a.stderr, "scorel: others could read %s, so there is a new token in it\n", display.Line(mcpserve.TokenFile(dir)))
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "scorel: clients send the header that is in %s\n", display.Line(mcpserve.TokenFile(dir)))
	if _, err := fmt.Fprintf(a.stdout, "http://%s%s\n", listener.Addr(), mcpserve.Path); err != nil {
		_ = listener.Close()
		return err
	}
	return s.HTTP(ctx, listener, token)
}
