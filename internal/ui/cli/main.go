package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"scorel/internal/extension/js"
	"scorel/internal/extension/prelude"
	"scorel/internal/extension/rpc"
	"scorel/internal/platform/heap"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/plain"
	"scorel/protocol/display"
)

// Version is the version of this build.
const Version = "0.1.0"

// app is one invocation.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	code           int           // the exit code of a command that ran
	pace           time.Duration // of the demo model; 0: for a reader, if there is one; below: none
	once           sync.Map      // sentences that notifyOnce has said
}

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	switch {
	case len(args) > 0 && args[0] == "host": // it stays, and what it lets lie it holds for days
		heap.Closely()
	case len(args) > 0 && args[0] == rpc.ChildName: // it has a bound of its own
	default:
		heap.Late()
	}
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}
	return a.run(context.Background(), args)
}

func (a *app) run(ctx context.Context, args []string) int {
	out := plain.NewOutput(a.stdout)
	if !headless.IsTerminal(a.stdout) { // who draws on a terminal needs it itself
		a.stdout = out
	}
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") { // nothing else need be made ready
		fmt.Fprintln(a.stdout, "scorel", Version)
		return a.ended(out.Err())
	}
	if len(args) > 0 && args[0] == rpc.ChildName {
		return js.Main(args[1:], Version, prelude.Scripts())
	}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil && a.code == exit.OK {
		err = out.Err()
	}
	return a.ended(err)
}

// ended says why a command has failed, and returns its exit code.
func (a *app) ended(err error) int {
	if err == nil {
		return a.code
	}
	code := exit.Code(err)
	if code != exit.Pipe { // who closed it knows
		fmt.Fprintln(a.stderr, "scorel: "+oneLine(display.Text(hinted(err))))
	}
	return code
}

func oneLine(s string) string {
	return strings.TrimRight(s, "\n")
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	var o promptOptions
	var u uiOptions
	var background bool
	root := &cobra.Command{
		Use:   "scorel [prompt]",
		Short: "A host for coding agents that never loses a word",
		Long: `Scorel runs a coding agent on this machine and keeps every conversation as a
log that survives crashes and can be rewound, branched and resumed.

    scorel                            the terminal UI, in a project's folder
    scorel demo                       watch an agent repair a small project
    scorel -p "why does make fail?"   ask, and print the answer
    git diff | scorel -p "review this"
    scorel sessions list              sessions that you can resume`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       Version,
		RunE: func(cmd *cobra.Command, args []string) error {
			if background {
				if err := refuseWithBackground(cmd.Flags()); err != nil {
					return err
				}
				return a.startBackground(cmd.Context(), backgroundOptions{promptOptions: o}, strings.Join(args, " "))
			}
			if !o.print {
				if len(args) > 0 && !strings.Contains(args[0], " ") {
					return exit.Usagef("there is no command %q; see scorel --help, or add -p to send it as a prompt", args[0])
				}
				return a.terminalUI(cmd.Context(), cmd.Flags(), &o, &u, strings.Join(args, " "))
			}
			if u.resume || u.embedded || u.phone || u.remote.set() {
				return exit.Usagef("--resume, --embedded, --remote-control and --remote belong to the terminal UI; leave out -p, or use scorel send for another host")
			}
			return a.prompt(cmd.Context(), o, strings.Join(args, " "))
		},
	}
	root.SetVersionTemplate("scorel {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.AsUsage(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	o.register(root)
	u.remote.register(root)
	root.Flags().BoolVarP(&u.resume, "resume", "r", false, "pick the session to resume")
	root.Flags().BoolVar(&background, "bg", false, "start a session in the background with the prompt, and return: scorel bg")
	root.Flags().BoolVar(&u.phone, "remote-control", false, "show the way in for a phone of the same network: /remote-control")
	root.Flags().BoolVar(&u.embedded, "embedded", false, "run the host in this process: what runs ends with it")
	markPrompt(root.Flags())
	root.AddCommand(a.versionCommand(), a.demoCommand(), a.sessionsCommand(), a.modelsCommand(), a.configCommand(), a.trustCommand(), a.doctorCommand(), a.mcpCommand(), a.channelsCommand(),
		a.hostCommand(), a.attachCommand(), a.assistantCommand(), a.sendCommand(), a.cancelCommand(), a.tailCommand(), a.bgCommand(), a.psCommand(), a.logsCommand(), a.killCommand(), a.daemonCommand(), a.jobCommand(), a.projectsCommand(),
		a.extensionsCommand(), a.completionCommand(), a.manCommand())
	root.AddCommand(a.projectCommands()...)
	root.AddCommand(a.scheduleCommands()...)
	root.AddCommand(a.webCommands()...)
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
			return exit.Usagef("there is no command %q; see %s --help", cmd.CommandPath()+" "+args[0], cmd.CommandPath())
		default:
			return exit.Usagef("%s given; the usage is: %s", plain.Count(len(args), "argument"), cmd.UseLine())
		}
	}
}
