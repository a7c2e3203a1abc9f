package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/headless"
	"scorel/protocol"
)

// promptOptions are the flags of scorel -p.
type promptOptions struct {
	turnFlags
	print     bool
	session   string
	cont      bool
	fork      bool
	at        string
	cwd       string
	workspace string // the folder, allowed also as wide as / is
	append    string
	input     string
	output    string
	noSession bool
	// background says that nobody waits for the session, and that no flag allows a wide folder.
	background bool
	schema     string // a file
	parsed     *headless.Schema
}

// turnFlags say how a turn runs.
type turnFlags struct {
	model     string
	thinking  string
	mode      string
	allow     []string
	deny      []string
	tools     string
	maxTurns  int
	most      spending
	addDirs   []string
	sandbox   string
	noNetwork bool
	mcp       []string // files, or texts
	strictMCP bool
	channels  []string
	chrome    bool
}

// spending is what a run may use; 0 means no limit.
type spending struct {
	usd     float64
	tokens  int
	minutes float64
}

func (o *promptOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.print, "print", "p", false, "send the prompt (and stdin), print the answer, and exit")
	f.StringVar(&o.model, "model", "", "the model: an alias of the configuration, provider/id, demo, or script:FILE")
	f.StringVar(&o.thinking, "thinking", "", "how much the model thinks: "+strings.Join(protocol.ThinkingLevels(), ", "))
	f.StringVar(&o.mode, "permission-mode", "", "default, acceptEdits, plan, dontAsk or bypassPermissions")
	f.StringArrayVar(&o.allow, "allowed-tools", nil, "rules to allow, such as 'Bash(git status:*)'; commas or repeats")
	f.StringArrayVar(&o.deny, "disallowed-tools", nil, "rules to deny; commas or repeats")
	f.StringVar(&o.sandbox, "sandbox", "", "what commands may write: workspace-write, read-only, or off for no restrictions")
	f.BoolVar(&o.noNetwork, "no-network", false, "take the network away from commands")
	f.StringArrayVar(&o.mcp, "mcp-config", nil, "a file of MCP servers, or its JSON, whose servers replace those of the same names in the configuration; can be repeated")
	f.BoolVar(&o.strictMCP, "strict-mcp-config", false, "with --mcp-config: use no other MCP servers")
	f.BoolVar(&o.chrome, "chrome", false, "let the model use your Chrome, by the MCP server mcp-chrome of its extension")
	f.StringArrayVar(&o.channels, "channels", nil, "an MCP server that may push events into the session, as server:NAME; commas or repeats")
	f.StringVar(&o.tools, "tools", "", "which tools exist: coding, readonly, all, none, or a list of names, those of extensions too")
	f.StringVar(&o.session, "session", "", "resume the session of this ID")
	f.BoolVarP(&o.cont, "continue", "c", false, "resume the newest session of this project")
	f.BoolVar(&o.fork, "fork", false, "with --session or --continue: continue in a copy")
	f.StringVar(&o.at, "at", "", "with --fork: copy up to this event")
	f.IntVar(&o.maxTurns, "max-turns", 0, "end the run after this many model calls; 0 is limits.maxSteps (default 200)")
	f.Float64Var(&o.most.usd, "max-budget-usd", 0, "end the run at this cost; 0 is no limit of its own")
	f.IntVar(&o.most.tokens, "max-tokens", 0, "end the run when models have read and written this many tokens; 0 is no limit")
	f.Float64Var(&o.most.minutes, "max-minutes", 0, "end the run after this many minutes, whatever it waits for then; 0 is no limit of its own")
	f.StringVar(&o.cwd, "cwd", "", "work in this folder")
	f.StringVar(&o.workspace, "workspace", "", "work in this folder, also when it is / (in a container)")
	f.StringArrayVar(&o.addDirs, "add-dir", nil, "a further folder that file tools may use; repeat for more")
	f.StringVar(&o.append, "append-system-prompt", "", "text to add to the system prompt of a new session")
	f.StringVar(&o.input, "input-format", "text", "text, or stream-json: requests of the protocol on stdin, one per line")
	f.StringVar(&o.output, "output-format", "text", "text, json or stream-json")
	f.StringVar(&o.schema, "json-schema", "", "a file with a JSON Schema that the answer must fit; exit code 6 if none of three does")
	f.BoolVar(&o.noSession, "no-session", false, "store no log of this conversation")
}

// check refuses flags that do not go together, and values that a flag cannot have.
func (o *promptOptions) check() error {
	for _, c := range o.rules() {
		if c.broken {
			return exit.Usagef("%s", c.message)
		}
	}
	return nil
}

// rule is something that flags must keep to.
type rule struct {
	broken  bool
	message string
}

// rules are what the flags must keep to, in the order in which they are looked at.
func (o *promptOptions) rules() []rule {
	oneOf := func(value string, allowed ...string) bool { return slices.Contains(allowed, value) }
	named := o.session != "" || o.cont
	return []rule{
		{!oneOf(o.output, "text", "json", "stream-json"), fmt.Sprintf("--output-format is %q; it can be text, json or stream-json", o.output)},
		{!oneOf(o.input, "", "text", "stream-json"), fmt.Sprintf("--input-format is %q; it can be text or stream-json", o.input)},
		{o.streams() && o.output != "stream-json", "--input-format stream-json needs --output-format stream-json"},
		{o.streams() && o.schema != "", "--json-schema is for the answer to one prompt; leave out --input-format stream-json"},
		{o.session != "" && o.cont, "--session and --continue name two sessions; use one of them"},
		{o.fork && !named, "--fork needs --session or --continue, which names what to copy"},
		{o.at != "" && !o.fork, "--at needs --fork"},
		{o.noSession && named, "--no-session cannot resume a session"},
		{o.workspace != "" && o.cwd != "", "--workspace and --cwd both name the folder; use one of them"},
		{o.strictMCP && len(o.mcp) == 0, "--strict-mcp-config needs --mcp-config; '{}' is no server at all"},
		{o.maxTurns < 0 || o.most.usd < 0 || o.most.tokens < 0 || o.most.minutes < 0, "--max-turns, --max-budget-usd, --max-tokens and --max-minutes cannot be negative"},
		{!oneOf(o.sandbox, "", "workspace-write", "read-only", "off"), fmt.Sprintf("--sandbox is %q; it can be workspace-write, read-only or off", o.sandbox)},
		{o.thinking != "" && !oneOf(o.thinking, protocol.ThinkingLevels()...), fmt.Sprintf("--thinking is %q; it can be %s", o.thinking, protocol.ThinkingLevelWords())},
	}
}

// streams reports whether requests come on stdin.
func (o *promptOptions) streams() bool { return o.input == "stream-json" }

// prompt is scorel -p.
func (a *app) prompt(ctx context.Context, o promptOptions, text string) error {
	out := headless.NewPrinter(o.output, a.stdout, a.stderr)
	if o.schema != "" && o.output == "text" {
		out = headless.NewStructured(a.stdout, a.stderr)
	}
	return a.runPrompt(ctx, o, text, out, headless.NewResult(""))
}

// runPrompt converses, prints the end, and sets the exit code from it.
func (a *app) runPrompt(ctx context.Context, o promptOptions, text string, out headless.Printer, res *headless.Result) error {
	defer follow.SurvivePipe()()
	ctx, begun, stop := follow.Starting(ctx)
	defer stop()
	err := a.converse(ctx, o, text, out, res, begun)
	if err != nil && ctx.Err() != nil { // whatever it was in the middle of
		err = context.Cause(ctx)
	}
	return a.finish(err, out, res)
}

// finish prints the end of a run, which err came instead of unless it is nil, and sets the
// exit code from it.
func (a *app) finish(err error, out headless.Printer, res *headless.Result) error {
	res.Stop(err)
	if a.code = res.ExitCode(); err != nil {
		a.code = exit.Code(err)
	}
	return out.Finish(res, err)
}

// turnOptions are the flags as one message asks them of its turn.
func (o *promptOptions) turnOptions() *protocol.TurnOptions {
	return &protocol.TurnOptions{Model: o.model, Thinking: o.thinking, Mode: o.mode, Allow: o.allow, Deny: o.deny, Tools: o.tools, AdditionalDirs: o.addDirs,
		MaxSteps: o.maxTurns, MaxBudgetUSD: o.most.usd, MaxTokens: o.most.tokens, MaxMinutes: o.most.minutes, Sandbox: o.sandbox, NoNetwork: o.noNetwork, MCPConfig: o.mcp, StrictMCP: o.strictMCP, Channels: o.channels, Unattended: true}
}
