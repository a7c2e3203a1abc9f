package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	// completionTimeout is how long a shell waits for names at most.
	completionTimeout = 300 * time.Millisecond
	// maxCompletions is how many sessions are offered.
	maxCompletions = 50
)

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script with which a shell completes commands, sessions and models",
		Long: `Prints a script for the shell. To use it in every new one:

    bash        scorel completion bash > ~/.local/share/bash-completion/completions/scorel
    zsh         scorel completion zsh > "${fpath[1]}/_scorel"
    fish        scorel completion fish > ~/.config/fish/completions/scorel.fish
    powershell  scorel completion powershell >> $PROFILE`,
		Args:      args(cobra.ExactArgs(1)),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return exit.Usagef("there is no completion for %q; it can be bash, zsh, fish or powershell", args[0])
		}}
}

// complete returns each flag and argument of the tree what it can be completed
// with.
func (a *app) complete(cmd *cobra.Command) {
	for _, name := range []string{"model", "permission-mode", "tools", "thinking", "output-format", "session", "format"} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, a.completer(name)) // fails only for a flag that is not there
		}
	}
	for _, name := range []string{"cwd", "add-dir"} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.MarkFlagDirname(name)
		}
	}
	switch words := strings.Fields(cmd.Use); {
	case cmd.ValidArgsFunction != nil || len(cmd.ValidArgs) > 0 || len(words) < 2:
	case words[1] == "SESSION" || words[1] == "[SESSION]":
		cmd.ValidArgsFunction = func(c *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completer("session")(c, args, begin)
		}
	case words[1] == "[PATH]" || words[1] == "[FOLDER]":
		cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
	for _, sub := range cmd.Commands() {
		a.complete(sub)
	}
}

// completer returns what the value of a flag can be. It is silent about errors: a
// shell has no place for them.
func (a *app) completer(flag string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		directive := cobra.ShellCompDirectiveNoFileComp
		switch flag {
		case "model":
			out = a.completeModels(cmd.Context(), begin)
		case "session":
			out = a.completeSessions(cmd.Context())
			directive |= cobra.ShellCompDirectiveKeepOrder
		case "permission-mode":
			out = []cobra.Completion{"default\task for writes, commands and the network", "acceptEdits\task, but for writes in the workspace",
				"plan\tread only, until the plan is approved", "dontAsk\tdeny what would ask", "bypassPermissions\task for nothing"}
		case "tools":
			out = []cobra.Completion{"coding\tall that work on code", "readonly\tthose that change nothing", "all\tevery tool", "none\tno tool"}
		case "thinking":
			out = protocol.ThinkingLevels()
			directive |= cobra.ShellCompDirectiveKeepOrder
		case "output-format":
			out = []cobra.Completion{"text", "json\tone object at the end", "stream-json\tevery event, one per line"}
		case "format":
			out = []cobra.Completion{"markdown", "jsonl"}
		}
		return out, directive
	}
}

// ask runs a function against a host that changes nothing, for a short time.
func (a *app) ask(ctx context.Context, f func(context.Context, *link) error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := context.WithTimeout(ctx, completionTimeout)
	defer stop()
	_ = a.withHost(ctx, hostOptions{look: true}, func(l *link) error { return f(ctx, l) })
}

// completeModels returns the models that can be called; when none of them begins
// so, the others.
func (a *app) completeModels(ctx context.Context, begin string) (out []cobra.Completion) {
	a.ask(ctx, func(ctx context.Context, l *link) error {
		list, err := client.Call[*protocol.ModelList](ctx, l.Client, "", &protocol.ListModels{Query: begin})
		if err != nil {
			return err
		}
		var rest []cobra.Completion
		for _, m := range list.Models {
			c := cobra.CompletionWithDesc(display.Line(m.Ref), contextSize(m.ContextWindow))
			switch {
			case !strings.HasPrefix(m.Ref, begin):
			case m.HasKey:
				out = append(out, c)
			default:
				rest = append(rest, c)
			}
		}
		if len(out) == 0 && begin != "" {
			out = rest
		}
		return nil
	})
	if strings.HasPrefix("demo", begin) {
		out = append(out, "demo\tbuilt in, needs no key")
	}
	return out
}

// completeSessions returns the newest sessions with their names.
func (a *app) completeSessions(ctx context.Context) (out []cobra.Completion) {
	a.ask(ctx, func(ctx context.Context, l *link) error {
		list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{Limit: maxCompletions})
		if err != nil {
			return err
		}
		for _, s := range list.Sessions {
			when := time.UnixMilli(s.UpdatedAt).Format("2006-01-02 15:04")
			out = append(out, cobra.CompletionWithDesc(string(s.SessionID), when+" "+display.Line(plain.FirstLine(s.Title(), 60))))
		}
		return nil
	})
	return out
}

// contextSize says how much a model takes.
func contextSize(tokens int) string {
	if tokens == 0 {
		return ""
	}
	return fmt.Sprintf("%dk tokens", tokens/1000)
}
