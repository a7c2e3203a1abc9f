package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Look at the configuration", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Usagef("use one of: scorel config check, or scorel config path")
		}}
	var asJSON bool
	var cwd string
	check := &cobra.Command{Use: "check", Short: "Print every key with its value in force and where it comes from", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := workDir("--cwd", cwd)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), func(l *link) error {
				rep, err := client.Call[*protocol.ConfigReport](cmd.Context(), l.Client, "", &protocol.GetConfig{WorkDir: dir})
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(rep)
				}
				var rows [][]string
				for _, e := range rep.Entries {
					rows = append(rows, []string{e.Key, e.Value, e.Source})
				}
				if err := plain.Table(a.stdout, rows); err != nil {
					return err
				}
				if rep.Trust != "" {
					fmt.Fprintf(a.stdout, "# The project's .scorel/config.toml: %s.\n", rep.Trust)
				}
				for _, n := range rep.Notices {
					fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
				}
				return nil
			})
		}}
	check.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	check.Flags().StringVar(&cwd, "cwd", "", "check for this folder")
	var pathJSON bool
	path := &cobra.Command{Use: "path", Short: "Print where the configuration file is", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			home, err := host.UserHome(a.environ)
			if err != nil {
				return err
			}
			file := filepath.Join(home, ".scorel", "config.toml")
			if pathJSON {
				return a.printJSON(map[string]string{"path": file})
			}
			_, err = fmt.Fprintln(a.stdout, file)
			return err
		}}
	path.Flags().BoolVar(&pathJSON, "json", false, "print JSON")
	cmd.AddCommand(check, path)
	return cmd
}
