package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) projectsCommand() *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error {
		return a.withSessions(cmd.Context(), func(l *link) error {
			p, err := client.Call[*protocol.ProjectList](cmd.Context(), l.Client, "", &protocol.ListProjects{})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(p)
			}
			return a.showProjects(p)
		})
	}
	cmd := &cobra.Command{Use: "projects", Short: "List, add and remove the folders that sessions belong to", Args: args(cobra.NoArgs), RunE: list}
	sub := &cobra.Command{Use: "list", Short: "List the projects", Args: args(cobra.NoArgs), RunE: list}
	for _, c := range []*cobra.Command{cmd, sub} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(sub, a.projectAddCommand(), a.projectRemoveCommand())
	return cmd
}

func (a *app) showProjects(p *protocol.ProjectList) error {
	for _, n := range p.Notices {
		a.notifyOnce(n)
	}
	if len(p.Projects) == 0 {
		fmt.Fprintln(a.stderr, "There are no projects; scorel projects add FOLDER makes one known.")
		return nil
	}
	var rows [][]string
	for _, pr := range p.Projects {
		trust := "not trusted"
		if pr.TrustedAt > 0 {
			trust = "trusted " + time.UnixMilli(pr.TrustedAt).Format("2006-01-02")
		}
		id := string(pr.ProjectID)
		if id == "" {
			id = "-"
		}
		rows = append(rows, []string{id, trust, pr.Root})
	}
	return plain.Table(a.stdout, rows)
}

func (a *app) projectAddCommand() *cobra.Command {
	return &cobra.Command{Use: "add [FOLDER]", Short: "Register the project of a folder", Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := workDir("", strings.Join(args, ""))
			if err != nil {
				return err
			}
			return a.withSessions(cmd.Context(), func(l *link) error {
				p, err := client.Call[*protocol.Project](cmd.Context(), l.Client, "", &protocol.RegisterProject{WorkDir: dir})
				if err != nil {
					return err
				}
				for _, n := range append(p.Notices, trustLines(p)...) {
					fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
				}
				_, err = fmt.Fprintf(a.stdout, "%s  %s\n", p.ProjectID, display.Line(p.Root))
				return err
			})
		}}
}

func (a *app) projectRemoveCommand() *cobra.Command {
	return &cobra.Command{Use: "remove ID", Short: "Take a project off the list; its sessions and files stay", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd.Context(), func(l *link) error {
				id := protocol.ProjectID(args[0])
				if _, err := client.Call[*protocol.Done](cmd.Context(), l.Client, "", &protocol.RemoveProject{ProjectID: id}); err != nil {
					var pe *protocol.Error
					if errors.As(err, &pe) && pe.Code == protocol.CodeProjectNotFound {
						return exit.Usagef("there is no project %q; scorel projects list shows them", args[0])
					}
					return err
				}
				_, err := fmt.Fprintf(a.stdout, "Removed %s from the list; its sessions and files stay.\n", display.Line(args[0]))
				return err
			})
		}}
}
