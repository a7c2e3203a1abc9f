package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
	"scorel/protocol/display"
)

// promptOptions are the flags of scorel -p.
type promptOptions struct {
	print     bool
	model     string
	thinking  string
	mode      string
	allow     []string
	deny      []string
	tools     string
	session   string
	cont      bool
	fork      bool
	at        string
	maxTurns  int
	maxBudget float64
	cwd       string
	workspace string // the folder, allowed also as wide as / is
	addDirs   []string
	append    string
	input     string
	output    string
	noSession bool
	sandbox   string
	noNetwork bool
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
	f.StringVar(&o.sandbox, "sandbox", "", "what commands may write: workspace-write, read-only, or off for all that you may")
	f.BoolVar(&o.noNetwork, "no-network", false, "take the network away from commands")
	f.StringVar(&o.tools, "tools", "", "which tools exist: coding, readonly, all, none, or a list of names, those of extensions too")
	f.StringVar(&o.session, "session", "", "go on in the session of this id")
	f.BoolVarP(&o.cont, "continue", "c", false, "go on in the newest session of this project")
	f.BoolVar(&o.fork, "fork", false, "with --session or --continue: go on in a copy")
	f.StringVar(&o.at, "at", "", "with --fork: copy up to this event")
	f.IntVar(&o.maxTurns, "max-turns", 0, "end the run after this many model calls (default 200)")
	f.Float64Var(&o.maxBudget, "max-budget-usd", 0, "end the run at this cost")
	f.StringVar(&o.cwd, "cwd", "", "work in this folder")
	f.StringVar(&o.workspace, "workspace", "", "work in this folder, also when it is / (in a container)")
	f.StringArrayVar(&o.addDirs, "add-dir", nil, "a further folder that file tools may use; repeat for more")
	f.StringVar(&o.append, "append-system-prompt", "", "text to add to the system prompt of a new session")
	f.StringVar(&o.input, "input-format", "text", "text, or stream-json: requests of the protocol on stdin, one a line")
	f.StringVar(&o.output, "output-format", "text", "text, json or stream-json")
	f.BoolVar(&o.noSession, "no-session", false, "keep no log of this conversation")
}

// check refuses flags that do not go together.
func (o *promptOptions) check() error {
	switch {
	case o.output != "text" && o.output != "json" && o.output != "stream-json":
		return usagef("--output-format is %q; it can be text, json or stream-json", o.output)
	case o.input != "" && o.input != "text" && o.input != "stream-json":
		return usagef("--input-format is %q; it can be text or stream-json", o.input)
	case o.streams() && o.output != "stream-json":
		return usagef("--input-format stream-json needs --output-format stream-json")
	case o.session != "" && o.cont:
		return usagef("--session and --continue name two sessions; give one of them")
	case o.fork && o.session == "" && !o.cont:
		return usagef("--fork needs --session or --continue, to say what to copy")
	case o.at != "" && !o.fork:
		return usagef("--at needs --fork")
	case o.noSession && (o.session != "" || o.cont):
		return usagef("--no-session cannot go on in a session")
	case o.workspace != "" && o.cwd != "":
		return usagef("--workspace and --cwd both name the folder; give one of them")
	case o.maxTurns < 0 || o.maxBudget < 0:
		return usagef("--max-turns and --max-budget-usd cannot be negative")
	}
	switch o.sandbox {
	case "", "workspace-write", "read-only", "off":
	default:
		return usagef("--sandbox is %q; it can be workspace-write, read-only or off", o.sandbox)
	}
	if o.thinking != "" && !slices.Contains(protocol.ThinkingLevels(), o.thinking) {
		return usagef("--thinking is %q; it can be %s", o.thinking, protocol.ThinkingLevelWords())
	}
	return nil
}

// streams says whether requests come on stdin.
func (o *promptOptions) streams() bool { return o.input == "stream-json" }

// prompt is scorel -p.
func (a *app) prompt(ctx context.Context, o promptOptions, text string) error {
	return a.send(ctx, o, text, a.newPrinter(o.output), &result{})
}

// send converses, prints the end, and sets the exit code from it.
func (a *app) send(ctx context.Context, o promptOptions, text string, out printer, res *result) error {
	defer survivePipe()()
	started := time.Now()
	*res = result{Type: "result", started: started, Denials: []denial{}}
	err := a.converse(ctx, o, text, out, res)
	res.DurationMS = time.Since(started).Milliseconds()
	a.code = res.exitCode()
	if err != nil {
		a.code = exitOf(err)
		res.fail(err)
	}
	return out.finish(res, err)
}

// converse sends the prompt and follows the run to its end.
func (a *app) converse(ctx context.Context, o promptOptions, text string, out printer, res *result) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := o.check()
	if err != nil {
		return err
	}
	if o.workspace != "" {
		if o.cwd, err = filepath.Abs(o.workspace); err != nil {
			return err
		}
	}
	dir, err := workDir(o.cwd)
	if err != nil {
		return err
	}
	for i, d := range o.addDirs {
		if o.addDirs[i], err = filepath.Abs(d); err != nil {
			return err
		}
		if info, err := os.Stat(d); err != nil || !info.IsDir() {
			return usagef("--add-dir %s is not a folder", d)
		}
	}
	if !o.streams() {
		if text, err = a.withStdin(text); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" && !o.streams() {
		return usagef("there is nothing to send: give a prompt, or text on stdin")
	}
	wide, err := a.wide(&o)
	if err != nil {
		return err
	}
	l, err := a.connect(ctx, hostOptions{noSession: o.noSession, overrides: host.Overrides{Model: o.model, Thinking: o.thinking,
		Mode: o.mode, Allow: o.allow, Deny: o.deny, Preset: o.tools, AdditionalDirs: o.addDirs, AppendSystemPrompt: o.append,
		MaxSteps: o.maxTurns, MaxBudgetUSD: o.maxBudget, Sandbox: o.sandbox, NoNetwork: o.noNetwork, Wide: wide}})
	if err != nil {
		return err
	}
	defer l.Close()
	err = a.converseAt(ctx, l, o, dir, text, out, res)
	var pe *protocol.Error
	if !errors.As(err, &pe) || pe.Code != protocol.CodeSessionLocked {
		return err
	}
	through, terr := a.throughHost(ctx, &o)
	if through == nil {
		return cmp.Or(terr, err)
	}
	defer through.Close()
	return a.converseAt(ctx, through, o, dir, text, out, res)
}

// converseAt sends the prompt to a host and follows the run. It fails with
// session_locked before anything was sent.
func (a *app) converseAt(ctx context.Context, l *link, o promptOptions, dir, text string, out printer, res *result) error {
	var content []protocol.Block
	var err error
	if strings.TrimSpace(text) != "" {
		if content, err = a.attach(ctx, l, dir, text, o.allow, o.deny); err != nil {
			return err
		}
	}
	id, err := a.target(ctx, l, o, dir)
	if err != nil {
		a.tellLost(ctx, l, id)
		return err
	}
	res.SessionID = id
	s, err := l.Open(ctx, id, 0)
	if err != nil {
		return err
	}
	where := s.Opened.Summary.Meta.WorkDir
	if a.isHome(where) {
		fmt.Fprintln(a.stderr, "scorel: the workspace has your whole home folder in it: "+display.Line(where)+"; --cwd names a smaller one")
	}
	a.tellFindings(s.Opened.Findings)
	if s.Opened.Interrupted != "" {
		fmt.Fprintln(a.stderr, "scorel: "+s.Opened.Interrupted)
	}
	if err := untilFresh(ctx, s); err != nil {
		return err
	}
	message := &protocol.SendMessage{Content: content, WhenBusy: "reject"}
	if l.serving {
		message.Options = o.turnOptions() // what runs on behind the turn is the host's
		if a.isHome(where) || o.workspace != "" {
			message.Options.Workspace = &where
		}
	} else {
		defer endBackground(ctx, l, res)
	}
	if p, ok := out.(*jsonPrinter); ok && o.streams() {
		return a.interact(ctx, l, s, content, p, res)
	}
	run, err := a.promptCommand(ctx, l, id, text)
	if err != nil {
		return err
	}
	since := s.Live.PersistentLastSeq // what follows belongs to the goroutine that takes updates
	f, end := a.following(ctx, l, s, out, res)
	defer end()
	if run != nil {
		run.Options = message.Options
		var done *protocol.CommandResult
		err := f.during(ctx, func() (err error) {
			done, err = client.Call[*protocol.CommandResult](ctx, l.Client, id, run)
			return err
		})
		var pe *protocol.Error
		switch {
		case errors.As(err, &pe) && (pe.Code == protocol.CodeForbidden || pe.Code == protocol.CodePayloadTooLarge):
			return usageError{err} // what the prompt names cannot be run
		case err != nil:
			return err
		}
		if done.Sent != nil {
			f.say(done.Status)
			return f.follow(ctx, done.Sent.TurnID)
		}
		answered, err := f.rest(ctx, done, since)
		if err == nil && !answered && o.output == "text" {
			_, err = fmt.Fprintln(a.stdout, display.Text(res.Result))
		}
		return err
	}
	var sent *protocol.Sent
	err = f.during(ctx, func() (err error) {
		sent, err = client.Call[*protocol.Sent](ctx, l.Client, id, message)
		return err
	})
	if err != nil {
		return err
	}
	if a.tookIt(sent) {
		res.Terminal = protocol.TerminalCompleted
		return nil
	}
	return f.follow(ctx, sent.TurnID)
}

// tookIt says whether a hook has done all there was to do with a message, so that no
// turn is to be waited for, and tells of it.
func (a *app) tookIt(sent *protocol.Sent) bool {
	if sent.Handled == "" {
		return false
	}
	fmt.Fprintf(a.stderr, "scorel: %s took the message; nothing of it is stored\n", display.Line(sent.Handled))
	return true
}

// throughHost connects to the host that serves, which may have the session that this
// process cannot open. Without one it gives neither a connection nor an error.
func (a *app) throughHost(ctx context.Context, o *promptOptions) (*link, error) {
	l, err := a.reach(ctx, reachOptions{name: "scorel -p"})
	if err != nil {
		return nil, nil // whoever holds the session, it is no host that can be asked
	}
	for _, f := range []struct {
		flag string
		set  bool
	}{{"--append-system-prompt", o.append != ""}, {"--input-format stream-json", o.streams()}} {
		if f.set {
			l.Close()
			return nil, usagef("the session is open in the host of this machine, where %s does not work; leave it out, or go on in a copy with --fork", f.flag)
		}
	}
	if file, ok := strings.CutPrefix(o.model, "script:"); ok { // the host works in another folder
		if file, err = filepath.Abs(file); err != nil {
			l.Close()
			return nil, err
		}
		o.model = "script:" + file
	}
	return l, nil
}

// turnOptions are the flags as one message asks them of its turn.
func (o *promptOptions) turnOptions() *protocol.TurnOptions {
	return &protocol.TurnOptions{Model: o.model, Thinking: o.thinking, Mode: o.mode, Allow: o.allow, Deny: o.deny, Tools: o.tools, AdditionalDirs: o.addDirs,
		MaxSteps: o.maxTurns, MaxBudgetUSD: o.maxBudget, Sandbox: o.sandbox, NoNetwork: o.noNetwork, Unattended: true}
}

func workDir(cwd string) (string, error) {
	if cwd != "" {
		dir, err := filepath.Abs(cwd)
		if err != nil {
			return "", usagef("--cwd %s: %w", cwd, err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", usagef("--cwd %s is not a folder", cwd)
		}
		return dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", usagef("the working directory is gone; change to another folder: %w", err)
	}
	return dir, nil
}

// noneToContinue says that a project has no session, and where the next one is.
func (a *app) noneToContinue(ctx context.Context, l *link, p *protocol.Project) error {
	all, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{})
	if err == nil {
		if below := display.Below(all.Sessions, p.WorkDir); below != "" {
			return usagef("this project has no session to continue, and the newest below it is of %s: --cwd names that folder; leave --continue out to begin one", below)
		}
	}
	return usagef("this project has no session to continue; leave --continue out to begin one")
}

// target gives the session to talk to, making one when none is named. With an error that
// came behind that it gives the session, too.
func (a *app) target(ctx context.Context, l *link, o promptOptions, dir string) (protocol.SessionID, error) {
	project, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir})
	if err != nil {
		return "", err
	}
	for _, n := range project.Notices {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
	}
	for _, line := range trustLines(project) {
		fmt.Fprintln(a.stderr, "scorel: "+line)
	}
	if project.Wide == protocol.WidthRoot && o.workspace == "" && (o.session == "" || o.cwd != "") {
		return "", usagef("%s would be the workspace, which is the whole file system; --workspace %s says that it shall be (in a container), --cwd names a smaller one", project.Root, project.Root)
	}
	var id protocol.SessionID
	switch {
	case o.session != "":
		if id, err = l.find(ctx, o.session); err != nil {
			return "", err
		}
	case o.cont:
		list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{ProjectID: project.ProjectID, Limit: 1})
		if err != nil {
			return "", err
		}
		if len(list.Sessions) == 0 {
			return "", a.noneToContinue(ctx, l, project)
		}
		id = list.Sessions[0].SessionID
	default:
		id = protocol.NewSessionID(time.Now(), rand.Reader)
		_, err := client.Call[*protocol.SessionSummary](ctx, l.Client, id, &protocol.CreateSession{ProjectID: project.ProjectID,
			Meta: protocol.Meta{WorkDir: dir, Model: o.model, ThinkingLevel: o.thinking}})
		return id, err
	}
	if o.fork {
		from := id
		id = protocol.NewSessionID(time.Now(), rand.Reader)
		s, err := client.Call[*protocol.SessionSummary](ctx, l.Client, id, &protocol.CloneSession{FromSessionID: from, FromEventID: protocol.EventID(o.at)})
		if err != nil {
			return "", err
		}
		for _, n := range s.Notices {
			fmt.Fprintln(a.stderr, "scorel: "+n)
		}
	}
	var changes protocol.MetaChanges
	if o.model != "" {
		changes.Model = &o.model
	}
	if o.thinking != "" {
		changes.ThinkingLevel = &o.thinking
	}
	if o.cwd != "" {
		changes.WorkDir = &dir
	}
	if changes != (protocol.MetaChanges{}) {
		if _, err := client.Call[*protocol.Done](ctx, l.Client, id, &protocol.UpdateInfo{Changes: changes}); err != nil {
			return id, err
		}
	}
	return id, nil
}

// tellLost says what the log of a session has lost, which may be why something failed; no
// id is no session.
func (a *app) tellLost(ctx context.Context, l *link, id protocol.SessionID) {
	if id == "" {
		return
	}
	if page, err := client.Call[*protocol.Events](ctx, l.Client, id, &protocol.GetPath{Limit: 1}); err == nil { // else the failure is all there is to say
		a.tellFindings(page.Findings)
	}
}

// find gives the session that a person names: by its id, or by what the id
// begins or ends with when only one does.
func (l *link) find(ctx context.Context, name string) (protocol.SessionID, error) {
	if id := protocol.SessionID(name); id.Check() == nil {
		return id, nil
	}
	list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{Subagents: true})
	if err != nil {
		return "", err
	}
	var found []protocol.SessionID
	for _, s := range list.Sessions {
		id := string(s.SessionID)
		if len(name) >= 4 && (strings.HasPrefix(id, name) || strings.HasPrefix(id, "ses_"+name) || strings.HasSuffix(id, name)) {
			found = append(found, s.SessionID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", usagef("there is no session %q; scorel sessions list shows them", name)
	}
	return "", usagef("%d sessions match %q; give more of the id", len(found), name)
}
