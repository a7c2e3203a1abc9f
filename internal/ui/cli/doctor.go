package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	var cwd string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation, and suggest fixes",
		Long: `Checks the folders and their modes, the disk, the configuration, keys and models,
the programs that are used, sessions, this project and the terminal. It changes
nothing. The exit code is 1 when a check fails, 0 otherwise.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := workDir("--cwd", cwd)
			if err != nil {
				return err
			}
			return a.withHost(cmd.Context(), hostOptions{look: true}, func(l *link) error {
				rep, err := client.Call[*protocol.DoctorReport](cmd.Context(), l.Client, "", &protocol.Doctor{WorkDir: dir})
				if err != nil {
					return err
				}
				rep.Checks = append(rep.Checks, a.checkTerminal())
				rep.Checks = append(rep.Checks, a.checkUI()...)
				for _, c := range rep.Checks {
					if c.State == "fail" {
						a.code = exit.Failed
					}
				}
				if asJSON {
					return a.printJSON(rep)
				}
				return a.showDoctor(rep)
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&cwd, "cwd", "", "check for this folder")
	return cmd
}

func (a *app) showDoctor(rep *protocol.DoctorReport) error {
	var rows [][]string
	bad := 0
	for _, c := range rep.Checks {
		rows = append(rows, []string{c.State, c.ID, c.Text})
		if c.State != "ok" {
			bad++
		}
		if c.Advice != "" {
			rows = append(rows, []string{"", "", "  " + c.Advice})
		}
	}
	if bad == 0 {
		rows = append(rows, nil, []string{"All is well."})
	}
	return plain.Table(a.stdout, rows)
}

// checkUI returns what is wrong with the files of the terminal UI, which the host does not read.
func (a *app) checkUI() []protocol.DoctorCheck {
	dir, err := a.scorelDir()
	if err != nil {
		return nil
	}
	return prefs.FindMistakes(dir).Checks()
}

// checkTerminal judges what only this end knows: how text is shown.
func (a *app) checkTerminal() protocol.DoctorCheck {
	c := protocol.DoctorCheck{ID: "terminal", State: "ok"}
	env := func(name string) string {
		for _, kv := range a.environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts: locale(7)
		if locale = env(name); locale != "" {
			break
		}
	}
	folded := strings.ToUpper(strings.ReplaceAll(locale, "-", ""))
	utf8 := strings.Contains(folded, "UTF8")
	term := env("TERM")
	switch {
	case !utf8 && locale == "":
		c.State, c.Text = "warn", "no locale is set, so the terminal may not show all characters"
	case !utf8:
		c.State, c.Text = "warn", fmt.Sprintf("the locale is %s, which has no UTF-8", locale)
	case headless.IsTerminal(a.stdout) && (term == "" || term == "dumb"):
		c.State, c.Text = "warn", fmt.Sprintf("the terminal is of the type %q, which cannot move its cursor", term)
		c.Advice = "Set TERM to what your terminal is, such as xterm-256color."
		return c
	default:
		c.Text = "locale " + locale
		if term != "" {
			c.Text += ", terminal " + term
		}
		if !headless.IsTerminal(a.stdout) {
			c.Text += ", output is not a terminal"
		}
	}
	if c.State != "ok" {
		c.Advice = "Set one: export LANG=C.UTF-8"
	}
	return c
}
