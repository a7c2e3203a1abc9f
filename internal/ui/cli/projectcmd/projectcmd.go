package projectcmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"scorel/client"
)

// Config is what the commands need of the program.
type Config struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Args checks the words of a command.
	Args func(cobra.PositionalArgs) cobra.PositionalArgs
	// With connects to the host that runs, else to one in this process, for as long as use
	// takes.
	With func(ctx context.Context, use func(*client.Client) error) error
	// WorkDir is the folder that a command is about: a path that was given, made absolute, or
	// where the program was started.
	WorkDir func(path string) (string, error)
	// Dir is the folder of the program's own files.
	Dir func() (string, error)
	// Interactive reports whether a person can be asked.
	Interactive func() bool
	// Exit sets the exit code of a command that has done its work.
	Exit func(code int)
}

// commands are those of one program.
type commands struct{ Config }

// New returns the commands.
func New(cfg Config) []*cobra.Command {
	cs := &commands{cfg}
	return []*cobra.Command{cs.agentsCommand(), cs.skillsCommand(), cs.memoryCommand(), cs.permissionsCommand()}
}
