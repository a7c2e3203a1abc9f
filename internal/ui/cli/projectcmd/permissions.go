package projectcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (cs *commands) permissionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "permissions", Short: "Take over permission rules of another program", Args: cs.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("use: scorel permissions import")
		}}
	var asJSON bool
	imports := &cobra.Command{
		Use:   "import [PATH]",
		Short: "Offer the allow rules of Claude Code's settings, one by one",
		Long: `The permissions.allow rules of .claude/settings.json, .claude/settings.local.json
and ~/.claude/settings.json have no effect until you accept them. This shows each
rule as it would be here and asks. Those that you accept are rules of your own
for this project, as if you had answered "always" (~/.scorel/rules.json).

Where nobody can be asked, the rules are listed, nothing is changed, and the
exit code is 4 if there is something to accept.`,
		Args: cs.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cs.importRules(cmd.Context(), strings.Join(args, ""), asJSON)
		}}
	imports.Flags().BoolVar(&asJSON, "json", false, "print JSON, and ask nothing")
	cmd.AddCommand(imports)
	return cmd
}

// importRules offers the rules that allow, and stores those that are accepted.
func (cs *commands) importRules(ctx context.Context, path string, asJSON bool) error {
	dir, err := cs.WorkDir(path)
	if err != nil {
		return exit.Usagef("%s is not a folder", display.Line(path))
	}
	return cs.With(ctx, func(l *client.Client) error {
		found, err := client.Call[*protocol.ForeignRules](ctx, l, "", &protocol.ListForeignRules{WorkDir: dir})
		if err != nil {
			return err
		}
		for _, n := range found.Notices {
			fmt.Fprintln(cs.Stderr, "scorel: "+display.Line(n))
		}
		open := slices.ContainsFunc(found.Rules, isOpen)
		switch {
		case asJSON:
			if err := plain.JSON(cs.Stdout, found); err != nil {
				return err
			}
		case len(found.Rules) == 0:
			fmt.Fprintln(cs.Stdout, "Claude Code's settings allow nothing here.")
			return nil
		default:
			cs.showForeign(found)
		}
		switch {
		case !open:
			return nil
		case asJSON || !cs.Interactive():
			fmt.Fprintln(cs.Stderr, "scorel: nobody is asked here, so nothing was changed; run scorel permissions import in a terminal to accept rules")
			cs.Exit(exit.Unasked)
			return nil
		}
		accepted, err := cs.askRules(found)
		if err != nil {
			return err
		}
		if len(accepted) == 0 {
			fmt.Fprintln(cs.Stdout, "Nothing was changed.")
			return nil
		}
		if _, err := client.Call[*protocol.RulesImported](ctx, l, "", &protocol.ImportRules{WorkDir: dir, Rules: accepted}); err != nil {
			return err
		}
		fmt.Fprintf(cs.Stdout, "%s allowed in %s: %s\n", plain.Count(len(accepted), "rule"), display.Line(found.Root), display.Line(display.Literal(strings.Join(accepted, ", "))))
		return nil
	})
}

// isOpen reports whether a rule could be accepted.
func isOpen(r protocol.ForeignRule) bool { return len(r.As) > 0 && !r.Have }

// showForeign prints the rules, file by file.
func (cs *commands) showForeign(found *protocol.ForeignRules) {
	file := ""
	for _, r := range found.Rules {
		if r.File != file {
			file = r.File
			fmt.Fprintln(cs.Stdout, display.Line(file)+":")
		}
		switch {
		case r.Have:
			fmt.Fprintf(cs.Stdout, "  %s  allowed already\n", display.Line(display.Literal(r.Rule)))
		case len(r.As) == 0:
			fmt.Fprintf(cs.Stdout, "  %s  cannot be taken: %s\n", display.Line(display.Literal(r.Rule)), display.Line(r.Problem))
		default:
			fmt.Fprintf(cs.Stdout, "  %s%s\n", display.Line(display.Literal(r.Rule)), asHere(r))
		}
	}
}

// asHere says what a rule is here, where that differs, and that it allows all of a tool.
func asHere(r protocol.ForeignRule) string {
	text := ""
	if here := strings.Join(r.As, ", "); here != r.Rule {
		text = "  here: " + display.Line(display.Literal(here))
	}
	if len(r.As) == 1 && !strings.Contains(r.As[0], "(") {
		text += "  (every call of " + display.Line(display.Literal(r.As[0])) + ")"
	}
	return text
}

// askRules asks about each rule that could be accepted. What is no yes is a no; q ends
// the questions, and no rule counts that was not accepted before.
func (cs *commands) askRules(found *protocol.ForeignRules) (accepted []string, err error) {
	in := bufio.NewReader(io.LimitReader(cs.Stdin, 64<<10))
	fmt.Fprintf(cs.Stderr, "\nAllow in %s without a question, from now on:\n", display.Line(found.Root))
	for _, r := range found.Rules {
		if !isOpen(r) || slices.Contains(accepted, r.As[0]) {
			continue
		}
		fmt.Fprintf(cs.Stderr, "  %s%s? [y/N/q] ", display.Line(display.Literal(r.Rule)), asHere(r))
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			accepted = append(accepted, r.As...)
		case "q", "quit":
			return accepted, nil
		}
		if err == io.EOF {
			return accepted, nil
		}
	}
	return accepted, nil
}
