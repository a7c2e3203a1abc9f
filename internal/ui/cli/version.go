package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

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
