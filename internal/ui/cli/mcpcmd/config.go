package mcpcmd

import (
	"io"

	"github.com/spf13/cobra"

	"scorel/internal/ui/plain"
)

// Config is what the commands work with.
type Config struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	Version        string // of this program
	// Exit sets the exit code of a command that has run without an error.
	Exit func(code int)
	// Interactive reports whether a person can be asked.
	Interactive func() bool
	// WorkDir returns the folder that the command runs in.
	WorkDir func() (string, error)
	// Args refuses a wrong number of arguments.
	Args func(cobra.PositionalArgs) cobra.PositionalArgs
}

// commands are those of one run of the program.
type commands struct{ Config }

// printJSON prints v on a line.
func (cs *commands) printJSON(v any) error { return plain.JSON(cs.Stdout, v) }
