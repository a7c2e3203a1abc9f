package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"scorel/internal/ui/cli/manpage"
	"scorel/protocol"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(map[string]any{"version": Version, "protocol": protocol.Version, "logFormat": protocol.HeaderVersion,
					"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprintf(a.stdout, "scorel %s\nprotocol %d, log format %d, %s %s/%s\n", Version, protocol.Version,
				protocol.HeaderVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long: `Prints the manual page as roff, with every command and flag.

    scorel man | man -l -
    scorel man > ~/.local/share/man/man1/scorel.1`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return manpage.Write(a.stdout, cmd.Root(), Version) },
	}
}
