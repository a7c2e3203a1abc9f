package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scorel/internal/ui/cli/service"
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			more, err := o.addresses()
			if err != nil {
				return err
			}
			return a.service().Install(cmd.Context(), more, show)
		}}
	f := cmd.Flags()
	f.SortFlags = false
	o.registerAddresses(f)
	f.BoolVar(&show, "print", false, "print the unit, and change nothing")
	return cmd
}

func (a *app) hostUninstallCommand() *cobra.Command {
	return &cobra.Command{Use: "uninstall", Short: "Stop the host that systemd runs, and remove its unit", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.service().Uninstall(cmd.Context()) }}
}

// service is the host as systemd runs it.
func (a *app) service() service.Service {
	return service.Service{Environ: a.environ, Stdout: a.stdout, Stderr: a.stderr}
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
