package mcpcmd

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/ui/exit"
	"scorel/protocol/display"
)

// secretVariable has the secret of an OAuth client where nobody is to be asked for it.
const secretVariable = "MCP_CLIENT_SECRET"

// secret returns the secret of an OAuth client: that of the environment, else what is typed
// unseen at the terminal, else the first line that is typed. It is
// never an argument, which others on the machine can read.
func (cs *commands) secret(name string, typed func() <-chan string) (string, error) {
	var secret string
	for _, kv := range cs.Environ {
		if value, ok := strings.CutPrefix(kv, secretVariable+"="); ok {
			secret = value
		}
	}
	if secret == "" {
		if file, ok := cs.Stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			fmt.Fprintf(cs.Stderr, "Client secret of %s: ", display.Line(name))
			unseen, err := term.ReadPassword(int(file.Fd()))
			fmt.Fprintln(cs.Stderr)
			if err != nil {
				return "", err
			}
			secret = string(unseen)
		} else {
			secret = <-typed() // "" where nothing comes
		}
	}
	secret = strings.TrimSpace(secret)
	if secret == "" || len(secret) > credentials.MaxInput {
		return "", exit.Usagef("--client-secret needs the secret in %s, or as a line on stdin, of at most %d bytes", secretVariable, credentials.MaxInput)
	}
	return secret, nil
}

// keepSecret keeps the secret of a server that was added a moment ago.
func (cs *commands) keepSecret(ctx context.Context, e mcp.Entry, secret string) error {
	_, login, err := cs.login(ctx, e.Name)
	if err == nil {
		err = login.KeepSecret(secret)
	}
	if err != nil {
		return fmt.Errorf("the MCP server %q is added; its client secret is not kept: %w", e.Name, err)
	}
	return nil
}
