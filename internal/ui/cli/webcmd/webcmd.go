// Package webcmd is the commands with which browsers come in: scorel web, scorel
// remote-control and scorel clients.
package webcmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/protocol"
)

// Config is what the commands need of the program.
type Config struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	// Args checks the words of a command.
	Args func(cobra.PositionalArgs) cobra.PositionalArgs
	// Reach connects to the host, and with start starts one when none runs; name is what the
	// client is called. done ends the connection.
	Reach func(ctx context.Context, start bool, name string) (c *client.Client, done func(), err error)
	// Find returns the session that a word means.
	Find func(ctx context.Context, c *client.Client, word string) (protocol.SessionID, error)
	// Dir returns the folder of Scorel.
	Dir func() (string, error)
	// Interactive reports whether a person is at both ends, and Dumb whether the terminal
	// shows no colours.
	Interactive, Dumb func() bool
	// Exit sets the exit code of a command that ran.
	Exit func(code int)
}

// commands are those of one program.
type commands struct{ Config }

// New returns the commands.
func New(cfg Config) []*cobra.Command {
	c := &commands{cfg}
	return []*cobra.Command{c.webCommand(), c.remoteControlCommand(), c.clientsCommand()}
}
