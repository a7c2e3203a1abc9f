package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
)

func (a *app) hostResetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "reset", Short: "Remove token, certificate and leftovers of a stopped host", Args: args(cobra.NoArgs),
		Long: `Removes what a host keeps for its clients: host.json, host.sock, the token and the
certificate. The next host makes new ones, and clients elsewhere need them.
Sessions, projects, keys and configuration stay.`,
		RunE: func(*cobra.Command, []string) error { return a.resetHost(yes) }}
	cmd.Flags().BoolVar(&yes, "yes", false, "really")
	return cmd
}

func (a *app) resetHost(yes bool) error {
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	if info, live, err := daemon.Find(dir); err != nil {
		return err
	} else if live {
		return fmt.Errorf("%v runs; stop it first with scorel host stop", info)
	}
	names := daemon.Leftovers(dir)
	if len(names) == 0 {
		fmt.Fprintln(a.stdout, "There is nothing to remove.")
		return nil
	}
	if !yes {
		in, ok := a.stdin.(*os.File)
		if !ok || !term.IsTerminal(int(in.Fd())) {
			return exit.Usagef("this removes %s; repeat with --yes", strings.Join(names, ", "))
		}
		fmt.Fprintf(a.stderr, "Remove %s? [y/N] ", strings.Join(names, ", "))
		answer, _ := bufio.NewReader(in).ReadString('\n') // no answer is no
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			a.code = exit.Failed
			return nil
		}
	}
	if err := daemon.Reset(dir); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, "Removed "+strings.Join(names, ", ")+".")
	return nil
}
