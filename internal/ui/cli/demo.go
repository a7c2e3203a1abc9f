package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/demo"
	"scorel/internal/ui/cli/demoproject"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/protocol"
	"scorel/protocol/display"
)

// What the demo sends: the task, and the word to go on after a kill.
const (
	demoPrompt = "A check of this project fails. Find out which, repair the fault, and show that every check passes."
	demoGoOn   = "Go on."
)

// demoOptions are the flags of scorel demo.
type demoOptions struct {
	reset   bool
	json    bool
	noDelay bool
}

func (a *app) demoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo [FOLDER]",
		Short: "Watch an agent repair a small project: no key, no network",
		Long: `Writes a small Bash project with a fault into FOLDER (default: scorel-demo) and
lets the built-in demo model repair it with the same tools, permissions and log as
a real one. Kill it in the middle and run it again: it continues where it was.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "scorel-demo"
			if len(args) == 1 {
				dir = args[0]
			}
			return a.demo(cmd.Context(), o, dir)
		},
	}
	cmd.Flags().BoolVar(&o.reset, "reset", false, "restore the files of an earlier demo, and start again")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	cmd.Flags().BoolVar(&o.noDelay, "no-delay", false, "do not slow down for a person to read along")
	return cmd
}

// demoModel makes the demo model, at the pace of a reader where one is.
func (a *app) demoModel() (model.Model, error) {
	delay := a.pace
	if delay == 0 && headless.IsTerminal(a.stdout) {
		delay = demo.Pace
	}
	return demo.NewPaced(demo.Config{Delay: max(0, delay)}), nil
}

// demo makes or finds the project, runs the agent in it, and says what can be
// done next.
func (a *app) demo(ctx context.Context, o demoOptions, name string) error {
	dir, err := filepath.Abs(name)
	if err != nil {
		return exit.Usagef("%s: %w", name, err)
	}
	session, err := a.demoFolder(ctx, dir, name, o.reset)
	if err != nil {
		return err
	}
	a.stdin = nil // the demo takes nothing from there
	if a.pace = demo.Pace; o.noDelay {
		a.pace = -1
	}
	p := promptOptions{print: true, cwd: dir, session: string(session), output: "text",
		turnFlags: turnFlags{model: "demo", mode: "acceptEdits", tools: "coding", allow: []string{"Bash(" + demoproject.TestCommand + ")"}}}
	text := demoPrompt
	if session != "" {
		text = demoGoOn
		fmt.Fprintf(a.stderr, "Continuing in %s; --reset starts again.\n\n", name)
	} else {
		fmt.Fprintf(a.stderr, "Made a small project with a fault in %s. Kill this in the middle if you like:\nthe same command continues where it was.\n\n", name)
	}
	fmt.Fprintf(a.stderr, "> %s\n\n", text)

	out := headless.NewText(a.stdout, a.stderr, true)
	if o.json {
		out = headless.NewPrinter("json", a.stdout, a.stderr)
	}
	seen := &demoPrinter{Printer: out, spin: headless.IsTerminal(a.stderr), result: headless.NewResult("")}
	if err := a.runPrompt(ctx, p, text, seen, seen.result); err != nil {
		return err
	}
	if !o.json {
		return a.nextSteps(a.stdout, dir, seen)
	}
	return nil
}

// demoFolder makes the project ready and returns the session to resume, "" to
// begin one.
func (a *app) demoFolder(ctx context.Context, dir, name string, reset bool) (protocol.SessionID, error) {
	state, err := demoproject.Look(dir)
	switch {
	case err != nil:
		return "", exit.Usagef("%s cannot be used: %w", name, err)
	case state == demoproject.Other:
		return "", exit.Usagef("%s exists and is not a demo project; give another folder: scorel demo FOLDER", name)
	case state == demoproject.Project && !reset:
		return a.demoSession(ctx, dir)
	}
	return "", demoproject.Write(dir)
}

// demoSession returns the newest session of the project, "" when there is none.
func (a *app) demoSession(ctx context.Context, dir string) (id protocol.SessionID, err error) {
	err = a.with(ctx, func(l *link) error {
		p, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir})
		if err != nil {
			return err
		}
		list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{ProjectID: p.ProjectID, Limit: display.NewestLook})
		if err != nil {
			return err
		}
		if newest, _ := display.Newest(list.Sessions); newest != nil { // its conversation is as good as any
			id = newest.SessionID
		}
		return nil
	})
	return id, err
}

// demoPrinter prints tool lines whoever reads, and notes what the next steps
// name.
type demoPrinter struct {
	headless.Printer
	spin   bool // stderr is a terminal, so lines on it can be redrawn
	result *headless.Result
	asked  protocol.EventID // the user's message
	last   protocol.EventID // the newest message of the assistant
}

func (p *demoPrinter) Event(e protocol.Event) error {
	if b, ok := e.Body.(*protocol.MessageBody); ok {
		switch b.Message.Role {
		case protocol.RoleUser:
			if p.asked == "" {
				p.asked = e.ID
			}
		case protocol.RoleAssistant:
			p.last = e.ID
		}
	}
	return p.Printer.Event(e)
}

func (p *demoPrinter) Tick() {
	if p.spin {
		p.Printer.Tick()
	}
}

// nextSteps prints commands to paste.
func (a *app) nextSteps(w io.Writer, dir string, p *demoPrinter) error {
	self, id := a.self(), string(p.result.SessionID)
	allow := " --permission-mode acceptEdits --allowed-tools " + headless.QuoteShell("Bash("+demoproject.TestCommand+")")
	var s strings.Builder
	step := func(what, command string) { fmt.Fprintf(&s, "  # %s\n  %s\n", what, command) }
	s.WriteString("\nTo continue from here:\n\n")
	step("the folder and its sessions", "cd "+quoteWord(dir)+" && "+self+" sessions list")
	step("the whole conversation", self+" sessions show "+id)
	if p.asked != "" {
		step("back to the question, with the fault in the file again", self+" sessions rewind "+id+" "+string(p.asked)+" --files")
		step("and another way from there", self+" -p --continue \"Go on.\""+allow)
	}
	step("all branches", self+" sessions show "+id+" --tree")
	if p.last != "" {
		step("the first branch again", self+" sessions branch "+id+" "+string(p.last))
	}
	step("the conversation as a file", self+" sessions export "+id+" -o demo.md")
	_, err := io.WriteString(w, s.String())
	return err
}

// self returns how this program is called, for commands to paste.
func (a *app) self() string {
	name := os.Args[0]
	if !strings.ContainsRune(name, filepath.Separator) {
		return quoteWord(name)
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return quoteWord(name)
}

// quoteWord quotes a word for bash where it needs that.
func quoteWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return headless.QuoteShell(s)
}
