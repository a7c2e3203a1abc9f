package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"scorel/internal/host"
	"scorel/internal/host/daemon"
)

func (a *app) hostInstallCommand() *cobra.Command {
	var o serveOptions
	var show bool
	cmd := &cobra.Command{Use: "install", Short: "Have systemd run the host from login on, and start it again when it fails", Args: args(cobra.NoArgs),
		Long: `Writes a systemd unit of yours (~/.config/systemd/user/scorel.service), enables and
starts it. It runs this program file; install again when that is elsewhere. Keys of models
come from scorel's own file (/login), since systemd does not know the variables of your
shell. --print only prints the unit; on macOS it prints a property list for launchd.

    scorel host install
    loginctl enable-linger       # it also runs while you are not logged in`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.installHost(cmd.Context(), o, show) }}
	f := cmd.Flags()
	f.SortFlags = false
	o.registerAddresses(f)
	f.BoolVar(&show, "print", false, "print the unit, and change nothing")
	return cmd
}

func (a *app) hostUninstallCommand() *cobra.Command {
	return &cobra.Command{Use: "uninstall", Short: "Stop the host that systemd runs, and remove its unit", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstallHost(cmd.Context()) }}
}

// installHost writes the unit of the host, or prints it.
func (a *app) installHost(ctx context.Context, o serveOptions, show bool) error {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return fmt.Errorf("find the program file: %w", err)
	}
	more, err := o.addresses()
	if err != nil {
		return err
	}
	switch {
	case runtime.GOOS == "darwin":
		if !show {
			fmt.Fprintln(a.stderr, "scorel: this is for launchd; write it to ~/Library/LaunchAgents/scorel.host.plist, and run: launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/scorel.host.plist")
		}
		_, err = fmt.Fprint(a.stdout, daemon.Agent(program, more))
		return err
	case show:
		_, err = fmt.Fprint(a.stdout, daemon.Unit(program, more))
		return err
	}
	file := daemon.UnitFile(home, a.environ)
	err = daemon.Install(ctx, file, daemon.Unit(program, more), a.environ)
	var refused *daemon.ManagerError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s is written, but systemd does not run it (%s); scorel host serve --supervise --detach starts a host that is started again when it fails", file, refused.Text)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "Wrote %s; the host runs, from each login on. It ends with your last login, unless loginctl enable-linger is on.\n", file)
	return err
}

// uninstallHost stops the host that systemd runs, and removes its unit.
func (a *app) uninstallHost(ctx context.Context) error {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return err
	}
	file := daemon.UnitFile(home, a.environ)
	did, err := daemon.Uninstall(ctx, file, a.environ)
	var refused *daemon.ManagerError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("removed %s, but systemd could not be asked (%s); a host that it runs goes on until scorel host stop", file, refused.Text)
	case err != nil:
		return err
	case !did:
		_, err = fmt.Fprintf(a.stdout, "There is no unit: %s is missing.\n", file)
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "Removed %s; the host that systemd ran is stopped.\n", file)
	return err
}

// addresses are the flags that say where a host listens, with absolute files.
func (o *serveOptions) addresses() ([]string, error) {
	var more []string
	for _, l := range o.listen {
		more = append(more, "--listen", l)
	}
	for _, f := range []struct{ flag, name string }{{"--tls-cert", o.cert}, {"--tls-key", o.key}} {
		if f.name == "" {
			continue
		}
		name, err := filepath.Abs(f.name) // the host works in another folder
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(name, "\n\r") {
			return nil, fmt.Errorf("%s %q: a name with a line break cannot be used", f.flag, name)
		}
		more = append(more, f.flag, name)
	}
	return more, nil
}
