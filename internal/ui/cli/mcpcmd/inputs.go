package mcpcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol/display"
)

func (cs *commands) inputsCommand() *cobra.Command {
	var forget bool
	cmd := &cobra.Command{Use: "inputs NAME", Short: "Answer what the entry of an MCP server asks for", Args: cs.Args(cobra.ExactArgs(1)),
		Long: `Asks for the values that the entry of a server names as ${input:ID}, and keeps them in
~/.scorel/credentials.json, for this entry as it is written. Passwords are not shown. Without
a terminal, the answers are the lines of stdin, in the order of the questions; an empty one
keeps what there is, or the default.`,
		RunE: func(cmd *cobra.Command, args []string) error { return cs.inputs(cmd.Context(), args[0], forget) }}
	cmd.Flags().BoolVar(&forget, "forget", false, "forget the answers")
	return cmd
}

func (cs *commands) inputs(ctx context.Context, name string, forget bool) error {
	f, err := cs.read(ctx)
	if err != nil {
		return err
	}
	e, ok := f.set.Lookup(name)
	switch {
	case !ok:
		return f.missing(name)
	case len(e.Inputs) == 0:
		return fmt.Errorf("the entry of the MCP server %q asks for nothing", display.Line(name))
	case forget:
		if err := f.in.Answers.Forget(e); err != nil {
			return err
		}
		fmt.Fprintf(cs.Stdout, "Forgot the answers for MCP server %s\n", display.Line(name))
		return nil
	}
	given, err := f.in.Answers.Of(e)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(cs.Stdin)
	lines.Buffer(nil, credentials.MaxInput+2)
	kept := 0
	for _, q := range e.Inputs {
		old, had := given[q.ID]
		value, err := cs.answer(lines, q, had)
		if errors.Is(err, io.EOF) {
			return exit.Usagef("%s of %s were answered; the rest is missing", plain.Count(kept, "question"), plain.Count(len(e.Inputs), "question"))
		}
		if err != nil {
			return err
		}
		if value == "" {
			value = q.Default
			if had {
				value = old
			}
		}
		switch {
		case value == "":
			return exit.Usagef("%s needs an answer", display.Line(q.ID))
		case q.Options != nil && !slices.Contains(q.Options, value):
			return exit.Usagef("the answer for %s is none of: %s", display.Line(q.ID), display.Line(strings.Join(q.Options, ", ")))
		}
		if err := f.in.Answers.Keep(e, q, value); err != nil {
			return err
		}
		kept++
	}
	fmt.Fprintf(cs.Stdout, "Kept %s for MCP server %s\n", plain.Count(kept, "answer"), display.Line(name))
	return nil
}

// answer asks one question; io.EOF is that nothing more comes.
func (cs *commands) answer(lines *bufio.Scanner, q mcp.Input, had bool) (string, error) {
	text := display.Line(q.ID)
	if q.Description != "" {
		text = display.Line(q.Description)
	}
	if q.Options != nil {
		text += " (" + display.Line(strings.Join(q.Options, ", ")) + ")"
	}
	switch {
	case had:
		text += " [Enter keeps the answer]"
	case q.Default != "":
		text += " [" + display.Line(q.Default) + "]"
	}
	file, isFile := cs.Stdin.(*os.File)
	atTerminal := isFile && term.IsTerminal(int(file.Fd()))
	if atTerminal {
		fmt.Fprint(cs.Stderr, text+": ")
	}
	if atTerminal && q.Password {
		secret, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(cs.Stderr)
		return strings.TrimSpace(string(secret)), err
	}
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return "", exit.Usagef("an answer has at most %d bytes", credentials.MaxInput)
		}
		return "", io.EOF
	}
	return strings.TrimSpace(lines.Text()), nil
}
