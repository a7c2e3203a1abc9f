package projectcmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxSkillColumn is how much of a description a list shows, in characters.
const maxSkillColumn = 80

func (cs *commands) skillsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "skills", Short: "List, show and check the skills that a model can use here", Args: cs.Args(cobra.NoArgs),
		Long: `A skill is a folder with a SKILL.md: instructions for a certain task, which the
model reads when it needs them, and maybe a program that it can run. They are in
~/.scorel/skills and in .scorel/skills of a project.`,
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("use one of: list, show NAME, or check [NAME]")
		}}
	cmd.AddCommand(cs.skillsListCommand(), cs.skillsShowCommand(), cs.skillsCheckCommand())
	return cmd
}

// skills asks for the skills of the working directory, or for those of one name.
func (cs *commands) skills(ctx context.Context, name string) (*protocol.SkillList, error) {
	dir, err := cs.WorkDir("")
	if err != nil {
		return nil, err
	}
	var list *protocol.SkillList
	err = cs.With(ctx, func(l *client.Client) error {
		var err error
		list, err = client.Call[*protocol.SkillList](ctx, l, "", &protocol.ListSkills{WorkDir: dir, Name: name})
		return err
	})
	return list, err
}

func (cs *commands) skillsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the skills that are found from this folder", Args: cs.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := cs.skills(cmd.Context(), "")
			if err != nil {
				return err
			}
			if asJSON {
				return plain.JSON(cs.Stdout, list)
			}
			for _, p := range list.Problems {
				fmt.Fprintln(cs.Stderr, "scorel: "+display.Line(p))
			}
			if len(list.Skills) == 0 {
				fmt.Fprintln(cs.Stderr, "There are no skills; docs/skills.md explains how to make one.")
				return nil
			}
			rows := [][]string{{"NAME", "STATE", "SOURCE", "DESCRIPTION"}}
			for _, s := range list.Skills {
				name := s.Name
				if s.Entry != "" {
					name += " *"
				}
				rows = append(rows, []string{name, s.State, s.Source, plain.FirstLine(s.Description, maxSkillColumn)})
			}
			return plain.Table(cs.Stdout, rows)
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (cs *commands) skillsShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "show NAME", Short: "Show a skill with the text that the model reads", Args: cs.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := cs.skills(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return plain.JSON(cs.Stdout, list)
			}
			for i, s := range list.Skills {
				if i > 0 {
					fmt.Fprintln(cs.Stdout)
				}
				showSkill(cs.Stdout, s)
			}
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// forkText says what works with a skill that has a context of its own.
func forkText(s protocol.SkillInfo) string {
	switch {
	case !s.Fork:
		return ""
	case s.Agent == "":
		return "fork: the agent general works with it"
	}
	return "fork: the agent " + s.Agent + " works with it"
}

func showSkill(w io.Writer, s protocol.SkillInfo) {
	fmt.Fprintf(w, "%s (%s, %s)\n", display.Line(s.Name), s.State, display.Line(s.Source))
	for _, f := range []struct{ name, value string }{{"label", s.Label}, {"description", s.Description}, {"file", s.Path}, {"program", s.Entry},
		{"input", string(s.Input)}, {"tools that it names", strings.Join(s.Tools, ", ")}, {"context", forkText(s)}} {
		if f.value != "" {
			fmt.Fprintf(w, "  %s: %s\n", f.name, display.Line(f.value))
		}
	}
	if s.TimeoutMS > 0 {
		fmt.Fprintf(w, "  time limit: %v\n", time.Duration(s.TimeoutMS)*time.Millisecond)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(w, "  ! %s\n", display.Line(p))
	}
	if s.Text != "" {
		fmt.Fprintf(w, "\n%s\n", display.Text(s.Text))
	}
}

func (cs *commands) skillsCheckCommand() *cobra.Command {
	return &cobra.Command{Use: "check [NAME]", Short: "Check skills, and fail if one is broken", Args: cs.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := cs.skills(cmd.Context(), strings.Join(args, ""))
			if err != nil {
				return err
			}
			bad := 0
			for _, p := range list.Problems {
				bad++
				fmt.Fprintln(cs.Stdout, display.Line(p))
			}
			for _, s := range list.Skills {
				for _, p := range s.Problems {
					bad++
					where := display.Line(s.Path)
					if s.State != "ok" { // what is wrong with one that works
						where += " (" + s.State + ")"
					}
					fmt.Fprintf(cs.Stdout, "%s: %s\n", where, display.Line(p))
				}
			}
			if bad > 0 {
				cs.Exit(exit.Failed)
				return nil
			}
			_, err = fmt.Fprintf(cs.Stdout, "%s, nothing is wrong.\n", plain.Count(len(list.Skills), "skill"))
			return err
		}}
}
