package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scorel/internal/extension/js"
	"scorel/internal/extension/prelude"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Version is the version of this build.
const Version = "0.1.0"

// Exit codes.
const (
	exitOK        = 0
	exitFailed    = 1   // a provider or the storage failed
	exitUsage     = 2   // the command line or the configuration is wrong
	exitLimit     = 3   // a limit ended the run
	exitLoop      = 5   // the model repeated itself, and nobody let it go on
	exitUnasked   = 4   // something was needed that nobody could be asked for
	exitCancelled = 130 // interrupted
	exitPipe      = 141 // nobody reads what is printed: what a shell says of a program that SIGPIPE ended
)

// app is one invocation.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	code           int           // the exit code of a command that ran
	pace           time.Duration // of the demo model; 0: for a reader, if there is one; below: none
}

// Main runs the command line and gives the exit code.
func Main(args []string) int {
	switch {
	case len(args) > 0 && args[0] == "host": // it stays, and what it lets lie it holds for days
		collectClosely()
	case len(args) > 0 && args[0] == rpc.ChildName: // it has a bound of its own
	default:
		collectLate()
	}
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}
	return a.run(context.Background(), args)
}

func (a *app) run(ctx context.Context, args []string) int {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") { // nothing else need be made ready
		fmt.Fprintln(a.stdout, "scorel", Version)
		return exitOK
	}
	if len(args) > 0 && args[0] == rpc.ChildName {
		return js.Main(args[1:], Version, []js.Script{{Name: prelude.Name, Source: prelude.Source()}})
	}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		code := exitOf(err)
		if code != exitPipe { // who closed it knows
			fmt.Fprintln(a.stderr, "scorel: "+oneLine(display.Text(hinted(err))))
		}
		return code
	}
	return a.code
}

// usageError is a wrong command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitOf gives the exit code of a failed command.
func exitOf(err error) int {
	var usage usageError
	var pe *protocol.Error
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitCancelled
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	case errors.As(err, &pe):
		switch pe.Code {
		case protocol.CodeInvalidRequest, protocol.CodeSessionNotFound, protocol.CodeInvalidEventID, protocol.CodeProjectNotFound:
			return exitUsage
		}
	}
	return exitFailed
}

func oneLine(s string) string {
	return strings.TrimRight(s, "\n")
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	var o promptOptions
	var u uiOptions
	root := &cobra.Command{
		Use:   "scorel [prompt]",
		Short: "A host for coding agents that never loses a word",
		Long: `Scorel runs a coding agent on this machine and keeps every conversation as a
log that survives crashes and can be rewound, branched and resumed.

    scorel                            the terminal UI, in a project's folder
    scorel demo                       watch an agent repair a small project
    scorel -p "why does make fail?"   ask, and print the answer
    git diff | scorel -p "review this"
    scorel sessions list              what there is to resume`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       Version,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !o.print {
				if len(args) > 0 && !strings.Contains(args[0], " ") {
					return usagef("there is no command %q; see scorel --help, or add -p to send it as a prompt", args[0])
				}
				return a.terminalUI(cmd.Context(), cmd.Flags(), &o, &u, strings.Join(args, " "))
			}
			if u.resume || u.embedded || u.remote.set() {
				return usagef("--resume, --embedded and --remote belong to the terminal UI; leave out -p, or use scorel send for another host")
			}
			return a.prompt(cmd.Context(), o, strings.Join(args, " "))
		},
	}
	root.SetVersionTemplate("scorel {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	o.register(root)
	u.remote.register(root)
	root.Flags().BoolVarP(&u.resume, "resume", "r", false, "pick the session to go on in")
	root.Flags().BoolVar(&u.embedded, "embedded", false, "run the host in this process: what runs ends with it")
	root.AddCommand(a.versionCommand(), a.demoCommand(), a.sessionsCommand(), a.modelsCommand(), a.agentsCommand(), a.skillsCommand(), a.configCommand(), a.trustCommand(), a.doctorCommand(), a.memoryCommand(),
		a.hostCommand(), a.attachCommand(), a.sendCommand(), a.cancelCommand(), a.tailCommand(), a.projectsCommand(),
		a.extensionsCommand(), a.completionCommand(), a.manCommand())
	a.complete(root)
	return root
}

// args refuses a wrong number of arguments as wrong usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch err := check(cmd, args); {
		case err == nil:
			return nil
		case cmd.HasSubCommands() && len(args) > 0:
			return usagef("there is no command %q; see %s --help", cmd.CommandPath()+" "+args[0], cmd.CommandPath())
		default:
			return usagef("%s given; the usage is: %s", plural(len(args), "argument"), cmd.UseLine())
		}
	}
}
