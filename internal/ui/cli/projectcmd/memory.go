package projectcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (cs *commands) memoryCommand() *cobra.Command {
	var asJSON bool
	show := func(cmd *cobra.Command, _ []string) error {
		return cs.withMemory(cmd.Context(), func(v *protocol.MemoryView) error {
			if asJSON {
				return plain.JSON(cs.Stdout, v)
			}
			return cs.showMemory(v)
		})
	}
	cmd := &cobra.Command{Use: "memory", Short: "Show the notes that sessions of this project get, and add one", Args: cs.Args(cobra.NoArgs), RunE: show,
		Long: `Notes outlive a session: yours, those of this project, and its daily ones. They are
Markdown files in ~/.scorel/memory that you may edit at any time.

    scorel memory                           what they contain, and how much is sent
    scorel memory add "run make generate before the tests"
    scorel memory add --user "short answers, please"
    $EDITOR "$(scorel memory path)"`}
	sub := &cobra.Command{Use: "show", Short: "Show the notes", Args: cs.Args(cobra.NoArgs), RunE: show}
	for _, c := range []*cobra.Command{cmd, sub} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(sub, cs.memoryAddCommand(), cs.memoryPathCommand())
	return cmd
}

// memoryScope is whose notes the flags name.
func memoryScope(user, daily bool) (string, error) {
	switch {
	case user && daily:
		return "", exit.Usagef("--user and --daily exclude each other; use one")
	case user:
		return "user", nil
	case daily:
		return "daily", nil
	}
	return "project", nil
}

func (cs *commands) memoryAddCommand() *cobra.Command {
	var user, daily bool
	cmd := &cobra.Command{Use: "add TEXT", Short: "Add a note to those of this project", Args: cs.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, err := memoryScope(user, daily)
			if err != nil {
				return err
			}
			dir, err := cs.WorkDir("")
			if err != nil {
				return err
			}
			return cs.With(cmd.Context(), func(l *client.Client) error {
				_, err := client.Call[*protocol.Done](cmd.Context(), l, "", &protocol.AddMemory{Scope: scope, Text: strings.Join(args, " "), WorkDir: dir})
				return err
			})
		}}
	cmd.Flags().BoolVar(&user, "user", false, "to your own notes, which all projects get")
	cmd.Flags().BoolVar(&daily, "daily", false, "to today's notes of this project")
	return cmd
}

func (cs *commands) memoryPathCommand() *cobra.Command {
	var user, daily bool
	cmd := &cobra.Command{Use: "path", Short: "Print where the notes of this project are", Args: cs.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			scope, err := memoryScope(user, daily)
			if err != nil {
				return err
			}
			return cs.withMemory(cmd.Context(), func(v *protocol.MemoryView) error {
				path := ""
				for _, f := range v.Files { // the newest day comes last
					if f.Scope == scope {
						path = f.Path
					}
				}
				if err := cs.memoryFolder(path); err != nil { // an editor could not store what is written
					fmt.Fprintf(cs.Stderr, "scorel: %s does not exist, and cannot be made: %v\n", display.Line(filepath.Dir(path)), err)
				}
				_, err := fmt.Fprintln(cs.Stdout, path)
				return err
			})
		}}
	cmd.Flags().BoolVar(&user, "user", false, "your own notes")
	cmd.Flags().BoolVar(&daily, "daily", false, "the newest daily notes of this project")
	return cmd
}

// memoryFolder makes the folder of a file of notes, when it is one of this machine.
func (cs *commands) memoryFolder(path string) error {
	dir, err := cs.Dir()
	if err != nil || !strings.HasPrefix(path, filepath.Join(dir, "memory")+string(filepath.Separator)) {
		return err
	}
	return os.MkdirAll(filepath.Dir(path), 0o700)
}

// withMemory returns the notes of the project of the working directory.
func (cs *commands) withMemory(ctx context.Context, do func(*protocol.MemoryView) error) error {
	dir, err := cs.WorkDir("")
	if err != nil {
		return err
	}
	return cs.With(ctx, func(l *client.Client) error {
		v, err := client.Call[*protocol.MemoryView](ctx, l, "", &protocol.GetMemory{WorkDir: dir})
		if err != nil {
			return err
		}
		if v.Problem != "" {
			fmt.Fprintln(cs.Stderr, "scorel: "+display.Line(v.Problem))
		}
		return do(v)
	})
}

func (cs *commands) showMemory(v *protocol.MemoryView) error {
	for _, f := range v.Files {
		if f.Bytes > 0 {
			if _, err := fmt.Fprintf(cs.Stdout, "%s\n%s\n\n", display.Line(f.Path), strings.TrimRight(display.Text(f.Text), "\n")); err != nil {
				return err
			}
		}
	}
	return plain.Table(cs.Stdout, plain.Memory(v))
}
