package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
)

func (a *app) hostTokenCommand() *cobra.Command {
	var refresh bool
	cmd := &cobra.Command{Use: "token", Short: "Print the token of this machine's host, or generate a new one", Args: args(cobra.NoArgs),
		Long: `Prints the token: who has it controls the host, so it belongs into a variable of
the client's environment or a password manager, and into no argument and no URL.
--refresh generates a new one; clients that use the old one are disconnected at once.`,
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.scorelDir()
			if err != nil {
				return err
			}
			token := ""
			if !refresh {
				if token, err = daemon.ReadToken(dir); errors.Is(err, fs.ErrNotExist) {
					return exit.Usagef("there is no token yet; the host makes one when it starts, and scorel host token --refresh does now")
				}
			} else if token, err = daemon.RefreshToken(dir, rand.Reader); err == nil {
				err = daemon.TellRefreshed(dir)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, token)
			return err
		}}
	cmd.Flags().BoolVar(&refresh, "refresh", false, "generate a new one; clients that use the old one are disconnected")
	return cmd
}
