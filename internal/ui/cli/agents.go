package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) agentsCommand() *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error {
		return a.withAgents(cmd.Context(), func(l *protocol.AgentList) error {
			if asJSON {
				return a.printJSON(l)
			}
			return a.showAgents(l)
		})
	}
	cmd := &cobra.Command{Use: "agents", Short: "List, show and check agents", Args: args(cobra.NoArgs), RunE: list}
	sub := &cobra.Command{Use: "list", Short: "List the agents of this folder", Args: args(cobra.NoArgs), RunE: list}
	for _, c := range []*cobra.Command{cmd, sub} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(sub, a.agentShowCommand(), a.agentCheckCommand())
	return cmd
}

// withAgents asks for the agents of the working directory.
func (a *app) withAgents(ctx context.Context, use func(*protocol.AgentList) error) error {
	dir, err := workDir("")
	if err != nil {
		return err
	}
	return a.with(ctx, func(l *link) error {
		list, err := client.Call[*protocol.AgentList](ctx, l.Client, "", &protocol.ListAgents{WorkDir: dir})
		if err != nil {
			return err
		}
		return use(list)
	})
}

func (a *app) showAgents(l *protocol.AgentList) error {
	var rows [][]string
	for _, g := range l.Agents {
		about := g.Description
		if g.State != "ok" {
			about = g.State + ": " + g.Problem
		}
		rows = append(rows, []string{g.Name, g.Scope, plain.FirstLine(about, 100)})
	}
	if err := plain.Table(a.stdout, rows); err != nil {
		return err
	}
	for _, p := range l.Problems {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(p))
	}
	return nil
}

func (a *app) agentShowCommand() *cobra.Command {
	return &cobra.Command{Use: "show NAME", Short: "Show the tools and instructions of an agent", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withAgents(cmd.Context(), func(l *protocol.AgentList) error {
				for _, g := range l.Agents {
					if g.Name == args[0] { // the first is the one that counts
						return a.showAgent(g)
					}
				}
				return noAgent(args[0])
			})
		}}
}

func noAgent(name string) error {
	return exit.Usagef("there is no agent %s; scorel agents lists them", display.Line(name))
}

func (a *app) showAgent(g protocol.AgentInfo) error {
	tools := strings.Join(g.Tools, ", ")
	if tools == "" {
		tools = "those of the session, without Task"
	} else if strings.HasPrefix(g.Tools[0], "-") {
		tools = "those of the session, without Task, " + tools
	}
	rows := [][]string{{"name", g.Name}, {"scope", g.Scope}, {"file", g.Path}, {"state", g.State}, {"problem", g.Problem}, {"description", g.Description}}
	if g.State == "ok" || g.State == "shadowed" {
		rows = append(rows, []string{"tools", tools}, []string{"model", g.Model}, []string{"permissionMode", g.Mode})
	}
	if g.MaxSteps > 0 {
		rows = append(rows, []string{"maxSteps", fmt.Sprint(g.MaxSteps)})
	}
	if g.Background {
		rows = append(rows, []string{"background", "true"})
	}
	if g.Hooks > 0 {
		rows = append(rows, []string{"hooks", fmt.Sprint(g.Hooks)})
	}
	rows = append(rows, []string{"color", g.Color}, []string{"effort", g.Effort}, []string{"skills", strings.Join(g.Skills, ", ")}, []string{"initialPrompt", g.Initial})
	rows = slices.DeleteFunc(rows, func(r []string) bool { return r[1] == "" })
	if err := plain.Table(a.stdout, rows); err != nil {
		return err
	}
	if g.Prompt != "" {
		fmt.Fprintln(a.stdout, "\n"+display.Text(g.Prompt))
	}
	return nil
}

func (a *app) agentCheckCommand() *cobra.Command {
	return &cobra.Command{Use: "check [NAME]", Short: "Check the files of agents, and fail if one is broken", Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withAgents(cmd.Context(), func(l *protocol.AgentList) error {
				for _, p := range l.Problems {
					fmt.Fprintln(a.stdout, display.Line(p))
					a.code = exit.Failed
				}
				good, found := 0, false
				for _, g := range l.Agents {
					if len(args) > 0 && g.Name != args[0] {
						continue
					}
					found = true
					switch {
					case g.State == "shadowed" && g.Scope == "builtin": // as it is meant
						continue
					case g.State == "broken":
						a.code = exit.Failed
						fallthrough
					case g.Problem != "":
						fmt.Fprintln(a.stdout, display.Line(g.Name)+": "+display.Line(g.Problem))
					}
					if g.State == "ok" {
						good++
					}
				}
				if !found && len(args) > 0 {
					return noAgent(args[0])
				}
				fmt.Fprintf(a.stderr, "%s can be used.\n", plain.Count(good, "agent"))
				return nil
			})
		}}
}
