package mcpcmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/host/mcpservers"
	"scorel/internal/platform/disk"
	"scorel/protocol/display"
)

func (cs *commands) resetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "reset", Short: "Forget which MCP servers are switched on or off for this project", Args: cs.Args(cobra.NoArgs),
		Long: `Forgets what "scorel mcp enable" and "scorel mcp disable" have decided for this project, in
~/.scorel/mcp.json. Servers that are disabled in their own entries stay disabled. The trust in
a project's servers is revoked with "scorel trust revoke".`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := cs.read(cmd.Context())
			if err != nil {
				return err
			}
			names, err := f.store.Reset(f.root)
			if err != nil {
				return err
			}
			if asJSON {
				return cs.printJSON(struct {
					Reset []string `json:"reset"`
				}{append([]string{}, names...)})
			}
			if len(names) == 0 {
				fmt.Fprintln(cs.Stdout, "No MCP server is switched on or off for this project.")
				return nil
			}
			fmt.Fprintf(cs.Stdout, "Forgot what was decided for this project about %s\nFile modified: %s\n", display.Line(strings.Join(names, ", ")), display.Line(f.store.File))
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// forgets returns what forgets the tokens and answers for the server of a name and scope. They
// are found by its entry, so this is called before that is removed.
func (f *files) forgets(scope mcp.Scope, name string) func() (bool, error) {
	none := func() (bool, error) { return false, nil }
	e, ok := f.set.Lookup(name)
	if !ok || e.Scope != scope {
		return none
	}
	r, err := mcpservers.Reach(e, f.set.Policy, f.vars, f.in)
	if err != nil { // nobody could sign in to it
		return func() (bool, error) { return false, f.in.Answers.Forget(e) }
	}
	login, err := mcpservers.NewLogin(e, r, disk.OS(), filepath.Join(f.home, ".scorel", "credentials.json"), f.version)
	return func() (bool, error) {
		if err := errors.Join(err, f.in.Answers.Forget(e)); err != nil || login == nil {
			return false, err
		}
		if err := login.ForgetSecret(); err != nil {
			return false, err
		}
		return login.Forget()
	}
}
