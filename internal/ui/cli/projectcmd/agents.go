package projectcmd

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

func (cs *commands) agentsCommand() *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error {
		return cs.withAgents(cmd.Context(), func(l *protocol.AgentList) error {
			if asJSON {
				return plain.JSON(cs.Stdout, l)
			}
			return cs.showAgents(l)
		})
	}
	cmd := &cobra.Command{Use: "agents", Short: "List, show and check agents", Args: cs.Args(cobra.NoArgs), RunE: list}
	sub := &cobra.Command{Use: "list", Short: "List the agents of this folder", Args: cs.Args(cobra.NoArgs), RunE: list}
	for _, c := range []*cobra.Command{cmd, sub} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(sub, cs.agentShowCommand(), cs.agentCheckCommand())
	return cmd
}

// withAgents asks for the agents of the working directory.
func (cs *commands) withAgents(ctx context.Context, use func(*protocol.AgentList) error) error {
	dir, err := cs.WorkDir("")
	if err != nil {
		return err
	}
	return cs.With(ctx, func(l *client.Client) error {
		list, err := client.Call[*protocol.AgentList](ctx, l, "", &protocol.ListAgents{WorkDir: dir})
		if err != nil {
			return err
		}
		return use(list)
	})
}

func (cs *commands) showAgents(l *protocol.AgentList) error {
	var rows [][]string
	for _, g := range l.Agents {
		about := g.Description
		if g.State != "ok" {
			about = g.State + ": " + g.Problem
		}
		rows = append(rows, []string{g.Name, g.Scope, plain.FirstLine(about, 100)})
	}
	if err := plain.Table(cs.Stdout, rows); err != nil {
		return err
	}
	for _, p := range l.Problems {
		fmt.Fprintln(cs.Stderr, "scorel: "+display.Line(p))
	}
	return nil
}

func (cs *commands) agentShowCommand() *cobra.Command {
	return &cobra.Command{Use: "show NAME", Short: "Show the tools and instructions of an agent", Args: cs.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cs.withAgents(cmd.Context(), func(l *protocol.AgentList) error {
				for _, g := range l.Agents {
					if g.Name == args[0] { // the first is the one that counts
						return cs.showAgent(g)
					}
				}
				return noAgent(args[0])
			})
		}}
}

func noAgent(name string) error {
	return exit.Usagef("there is no agent %s; scorel agents lists them", display.Line(name))
}

func (cs *commands) showAgent(g protocol.AgentInfo) error {
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
	if err := plain.Table(cs.Stdout, rows); err != nil {
		return err
	}
	if g.Prompt != "" {
		fmt.Fprintln(cs.Stdout, "\n"+display.Text(g.Prompt))
	}
	return nil
}

func (cs *commands) agentCheckCommand() *cobra.Command {
	return &cobra.Command{Use: "check [NAME]", Short: "Check the files of agents, and fail if one is broken", Args: cs.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cs.withAgents(cmd.Context(), func(l *protocol.AgentList) error {
				for _, p := range l.Problems {
					fmt.Fprintln(cs.Stdout, display.Line(p))
					cs.Exit(exit.Failed)
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
						cs.Exit(exit.Failed)
						fallthrough
					case g.Problem != "":
						fmt.Fprintln(cs.Stdout, display.Line(g.Name)+": "+display.Line(g.Problem))
					}
					if g.State == "ok" {
						good++
					}
				}
				if !found && len(args) > 0 {
					return noAgent(args[0])
				}
				fmt.Fprintf(cs.Stderr, "%s can be used.\n", plain.Count(good, "agent"))
				return nil
			})
		}}
}
