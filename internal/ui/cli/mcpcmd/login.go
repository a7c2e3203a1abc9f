package mcpcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/host/mcpservers"
	"scorel/internal/platform/disk"
	"scorel/protocol/display"
)

// signed is what scorel mcp login and logout print as JSON.
type signed struct {
	Name     string `json:"name"`
	SignedIn bool   `json:"signedIn"`
}

func (cs *commands) loginCommand() *cobra.Command {
	var asJSON, secret bool
	cmd := &cobra.Command{Use: "login NAME", Short: "Sign in to an MCP server", Args: cs.Args(cobra.ExactArgs(1)),
		Long: `Prints an address to open in a browser, and waits at most 5 minutes until you have
signed in there. If the browser is on another machine, it ends at an address that
cannot be opened: paste that address here. The tokens are kept in
~/.scorel/credentials.json; sessions use them from their next message on.
With --client-secret, the secret of the client that the entry names (oauth.clientId) is
asked for first, or read from MCP_CLIENT_SECRET or from stdin, and kept there too.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, login, err := cs.login(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			typed := sync.OnceValue(func() <-chan string { return lines(cmd.Context(), cs.Stdin) })
			if secret {
				given, err := cs.secret(args[0], typed)
				if err == nil {
					err = login.KeepSecret(given)
				}
				if err != nil {
					return err
				}
			}
			show := func(at, host string) {
				fmt.Fprintf(cs.Stderr, "Open this address of %s in your browser, and sign in:\n\n%s\n\nWaiting. If the browser cannot open the address that it is led to at the end, paste that address here.\n", display.Line(host), display.Line(at))
			}
			foreign := func(err error) { fmt.Fprintln(cs.Stderr, "scorel: "+display.Line(err.Error())) }
			if err := login.SignIn(cmd.Context(), show, typed(), foreign); err != nil {
				return fmt.Errorf("the sign-in to the MCP server %q has failed: %w", args[0], err)
			}
			if asJSON {
				return cs.printJSON(signed{args[0], true})
			}
			fmt.Fprintf(cs.Stdout, "Signed in to MCP server %s\n", display.Line(args[0]))
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&secret, "client-secret", false, "ask for the secret of the client that the entry names")
	return cmd
}

// maxPasted is how long a line is that a person pastes, in bytes.
const maxPasted = 64 << 10

// lines returns what is typed, until it ends or ctx does.
func lines(ctx context.Context, in io.Reader) <-chan string {
	out := make(chan string)
	go func() { // ends with its input, or with the process
		defer close(out)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxPasted)
		for scan.Scan() {
			if scan.Text() == "" {
				continue
			}
			select {
			case out <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (cs *commands) logoutCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "logout NAME", Short: "Forget the sign-in to an MCP server", Args: cs.Args(cobra.ExactArgs(1)),
		Long: `Forgets the tokens of a server in ~/.scorel/credentials.json. The server is not told;
where it has a page of connected programs, Scorel can be removed there.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, login, err := cs.login(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			had, err := login.Forget()
			switch {
			case err != nil:
				return err
			case !had:
				return fmt.Errorf("nobody is signed in to the MCP server %q", args[0])
			case asJSON:
				return cs.printJSON(signed{args[0], false})
			}
			fmt.Fprintf(cs.Stdout, "Signed out of MCP server %s\n", display.Line(args[0]))
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// reach says how a server is reached, with the tokens of whoever has signed in. login is
// nil for a server that nobody signs in to.
func (cs *commands) reach(f *files, e mcp.Entry) (r mcpservers.Reached, login *mcpservers.Login, err error) {
	r, err = mcpservers.Reach(e, f.set.Policy, f.vars, f.in)
	if err != nil {
		return r, nil, err
	}
	login, err = mcpservers.NewLogin(e, r, disk.OS(), filepath.Join(f.home, ".scorel", "credentials.json"), cs.Version)
	if login != nil {
		r.Target.Auth = login.Session()
	}
	return r, login, err
}

// login returns how somebody signs in to a server.
func (cs *commands) login(ctx context.Context, name string) (mcp.Entry, *mcpservers.Login, error) {
	f, err := cs.read(ctx)
	if err != nil {
		return mcp.Entry{}, nil, err
	}
	e, ok := f.set.Lookup(name)
	if !ok {
		return e, nil, f.missing(name)
	}
	_, login, err := cs.reach(f, e)
	switch {
	case err != nil:
		return e, nil, fmt.Errorf("the MCP server %q cannot be used: %w", name, err)
	case login == nil:
		return e, nil, fmt.Errorf("the MCP server %q has no sign-in: only servers of the types http and sse have one, and not those with a header Authorization in their entry", name)
	}
	return e, login, nil
}

// whyNot says why a server cannot be connected with, and what to do.
func whyNot(name string, err error) string {
	if errors.Is(err, connect.ErrNeedsAuth) {
		return err.Error() + ": scorel mcp login " + name
	}
	return err.Error()
}
