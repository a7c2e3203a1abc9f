package permission

import (
	"errors"
	"fmt"
	"slices"

	"scorel/protocol"
	"scorel/protocol/display"
)

// Scope says whose rules a layer holds.
type Scope string

// The scopes. A project may only tighten.
const (
	ScopeUser    Scope = "user"    // ~/.scorel/config.toml, rules.json and flags
	ScopeProject Scope = "project" // <project>/.scorel/config.toml
	ScopeSession Scope = "session" // answered "for this session"
)

// Layer is one set of rules. Each entry is a rule, or several separated by
// commas (see [Split]).
type Layer struct {
	Name  string // for error texts: a file, "--allowed-tools", …
	Scope Scope
	Allow []string
	Ask   []string
	Deny  []string
}

// Config is what a policy is made from.
type Config struct {
	Mode   Mode // "" is Default
	Layers []Layer
	Home   string // of the user, absolute and without symlinks: what ~ stands for
	Root   string // the workspace, absolute and without symlinks: what relative patterns are below
	UID    int    // of this process
	// Resolve follows the links of an absolute path, which need not exist, so that
	// a rule which denies or asks and names a link covers what the link leads to;
	// nil: the text of a rule counts alone.
	Resolve func(abs string) Path
	// Readable are folders in Scorel's own that can be read, and whose programs can be
	// run, though nothing there is ever written: absolute and without symlinks.
	Readable []string
	// Confined says that commands run in a sandbox that holds writes outside the
	// workspace and Scorel's own folder.
	Confined bool
	// Unconfined is added to every question about a command: what a sandbox here
	// does not hold, as sentences, "" when it holds all.
	Unconfined string
}

// ErrRootBypass reports that bypassPermissions was refused.
var ErrRootBypass = errors.New("permission mode bypassPermissions is refused for root without a sandbox: nothing would stand between the model and the system; use another mode, an ordinary user, or a system where the sandbox holds (see scorel doctor)")

// Policy judges actions. It never changes and may be used concurrently.
type Policy struct {
	mode             Mode
	uid              int
	confined         bool
	unconfined       string
	home, root       string
	readable         []string
	resolve          func(string) Path
	allow, ask, deny []rule
}

// maxRules is how many rules a list of a layer has, but for what people answered
// in a session: each is compared with each file that a search finds, and a project
// writes its own.
const maxRules = 1000

// Compile makes a policy. It fails for an unknown mode, for bypassPermissions as
// root ([ErrRootBypass]), for a rule that cannot be read, and for allow rules of
// a project.
func Compile(cfg Config) (*Policy, error) {
	mode, err := ParseMode(string(cfg.Mode))
	if err != nil {
		return nil, err
	}
	if mode == Bypass && cfg.UID == 0 && !cfg.Confined {
		return nil, ErrRootBypass
	}
	p := &Policy{mode: mode, uid: cfg.UID, confined: cfg.Confined, unconfined: cfg.Unconfined, home: cfg.Home, root: cfg.Root, readable: cfg.Readable, resolve: cfg.Resolve}
	for _, l := range cfg.Layers {
		if err := p.add(l); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Mode returns the mode of the policy.
func (p *Policy) Mode() Mode { return p.mode }

// With returns a policy that has the rules of layer too.
func (p *Policy) With(layer Layer) (*Policy, error) {
	q := *p
	q.allow, q.ask, q.deny = slices.Clip(q.allow), slices.Clip(q.ask), slices.Clip(q.deny)
	if err := q.add(layer); err != nil {
		return nil, err
	}
	return &q, nil
}

// WithMode returns the same rules under another mode. It fails as Compile does.
func (p *Policy) WithMode(mode Mode, uid int) (*Policy, error) {
	mode, err := ParseMode(string(mode))
	if err != nil {
		return nil, err
	}
	if mode == Bypass && uid == 0 && !p.confined {
		return nil, ErrRootBypass
	}
	q := *p
	q.mode, q.uid = mode, uid
	return &q, nil
}

func (p *Policy) add(l Layer) error {
	if l.Scope == ScopeProject && len(l.Allow) > 0 {
		return fmt.Errorf("%s: a project may not allow: %s", l.Name, l.Allow[0])
	}
	read := parser{home: p.home, root: p.root}
	lists := []struct {
		to    *[]rule
		rules []string
	}{{&p.allow, l.Allow}, {&p.ask, l.Ask}, {&p.deny, l.Deny}}
	for _, list := range lists {
		had := len(*list.to)
		for _, entry := range list.rules {
			parts := Split(entry)
			if len(parts) == 0 {
				parts = []string{entry}
			}
			for _, text := range parts {
				read.denies = list.to == &p.deny
				r, err := read.parse(text)
				if err != nil {
					if l.Name != "" {
						err = fmt.Errorf("%s: %w", l.Name, err)
					}
					return err
				}
				r.from = l.Name
				if list.to != &p.allow {
					r.follow(p.resolve)
				}
				if *list.to = append(*list.to, r); len(*list.to)-had > maxRules && l.Scope != ScopeSession {
					return fmt.Errorf("%s has more than %d permission rules in a list; write fewer that cover more", l.Name, maxRules)
				}
			}
		}
	}
	return nil
}

// Removes reports whether a rule denies all that a tool could do, so that a model needs not
// know of it. server is that of a tool of an MCP server, "" for another.
func (p *Policy) Removes(tool, server string) bool {
	_, ok := find(p.deny, func(r rule) bool { return r.forTools(tool, server) })
	return ok
}

// RemovesPrompt reports whether a rule denies what uses a prompt of an MCP server, so that a
// model needs not know of it.
func (p *Policy) RemovesPrompt(a Action) bool {
	_, ok := find(p.deny, func(r rule) bool { return r.forTightened(a) })
	return ok
}

// Judge decides about an action: allow, ask or deny. A question carries the
// answers that it can offer; what a suggested rule grants is never more than the
// action at hand, or a listed harmless command with other arguments.
func (p *Policy) Judge(a Action) Verdict {
	v := p.judge(a)
	if v.Decision == protocol.DecisionAsk {
		v.Suggestions = p.suggest(a)
		if a.Background {
			v.Reason += " It would keep running in the background."
		}
		if a.Kind == Exec && p.unconfined != "" {
			v.Reason += " " + p.unconfined
		}
	}
	v.Reason = display.Literal(v.Reason) // it quotes commands and paths
	return v
}

// judge is Judge without suggestions.
func (p *Policy) judge(a Action) Verdict {
	v := p.rules(a)
	if v.Decision != protocol.DecisionAsk {
		return v
	}
	switch p.mode {
	case Plan:
		return deny("", "Plan mode: "+v.Reason+" Nobody is asked in plan mode. Go on without it and present your plan.")
	case DontAsk:
		return deny(v.Rule, "Nobody is asked in the mode dontAsk: "+v.Reason)
	}
	return v
}

// rules decides by rules and by what the mode leaves open, without regard to
// whether the mode asks at all.
func (p *Policy) rules(a Action) Verdict {
	for _, path := range a.Paths {
		if path.OutOfReach && !(path.Skill && a.Kind == Read) {
			return deny("", outOfReach(path.Abs))
		}
	}
	if r, ok := find(p.deny, func(r rule) bool { return r.forTightened(a) || r.forLike(a) }); ok {
		return denied(r)
	}
	if p.mode == Plan && a.Kind != Read && a.Kind != State {
		return p.planDenies(a)
	}
	switch a.Kind {
	case Read, Write:
		return p.files(a)
	case Exec:
		if a.Command != "" {
			return p.exec(a)
		}
	case Net:
		return p.net(a)
	}
	return p.other(a)
}

// planDenies refuses what is no read, by the rule if one refuses it anyway.
func (p *Policy) planDenies(a Action) Verdict {
	q := *p
	q.mode = Default
	if v := q.rules(a); v.Decision == protocol.DecisionDeny {
		return v
	}
	return deny("", fmt.Sprintf("Plan mode: %s was not run, because only reading is possible until the plan is approved. Finish reading, then answer with your plan.", a.Tool))
}

// forLike reports whether the rule is one for the whole of another tool whose rules hold
// for the action, too: each could do what the other can.
func (r rule) forLike(a Action) bool {
	other := protocol.FindTool(a.Tool).AlsoRuledBy
	return other != "" && r.forTool(other)
}

func (p *Policy) other(a Action) Verdict {
	byTool := func(r rule) bool { return r.forNamed(a) || r.forLike(a) }
	if r, ok := find(p.ask, func(r rule) bool { return r.forTightened(a) || r.forLike(a) }); ok {
		return asked(r)
	}
	if a.Kind == State || a.Own || p.mode == Bypass {
		return Verdict{Decision: protocol.DecisionAllow}
	}
	if r, ok := find(p.allow, byTool); ok {
		return allowed(r)
	}
	if a.prompt() {
		return ask("", fmt.Sprintf("%s asks the MCP server %s for its prompt %s.", a.Tool, a.Server, a.Name))
	}
	if a.Name != "" {
		return ask("", fmt.Sprintf("%s runs the program of the skill %s.", a.Tool, a.Name))
	}
	return ask("", fmt.Sprintf("%s needs permission.", a.Tool))
}

func (p *Policy) net(a Action) Verdict {
	if r, ok := find(p.deny, func(r rule) bool { return r.forHost(a.Host, true) }); ok {
		return denied(r)
	}
	if r, ok := find(p.ask, func(r rule) bool { return r.forTool(a.Tool) || r.forHost(a.Host, true) }); ok {
		return asked(r)
	}
	if p.mode == Bypass && !a.Exact {
		return Verdict{Decision: protocol.DecisionAllow}
	}
	if r, ok := find(p.allow, func(r rule) bool { return !a.Exact && r.forTool(a.Tool) || r.forCall(a) }); ok {
		return allowed(r)
	}
	if !a.Exact {
		return ask("", fmt.Sprintf("%s reaches %s.", a.Tool, a.Host))
	}
	return ask("", fmt.Sprintf("%s reaches %s, which is this machine or an unusual port.", a.Tool, a.Host))
}

func outOfReach(path string) string {
	return path + " belongs to Scorel itself and is out of reach of tools."
}

func find(rules []rule, covers func(rule) bool) (rule, bool) {
	for _, r := range rules {
		if covers(r) {
			return r, true
		}
	}
	return rule{}, false
}

func ask(rule, reason string) Verdict {
	return Verdict{Decision: protocol.DecisionAsk, Rule: rule, Reason: reason}
}

func deny(rule, reason string) Verdict {
	return Verdict{Decision: protocol.DecisionDeny, Rule: rule, Reason: reason}
}

func asked(r rule) Verdict { return ask(r.text, "The rule "+r.text+" asks.") }

func denied(r rule) Verdict {
	from := ""
	if r.from != "" {
		from = " (" + r.from + ")"
	}
	return deny(r.text, "The rule "+r.text+" denies this"+from+".")
}

func allowed(r rule) Verdict { return Verdict{Decision: protocol.DecisionAllow, Rule: r.text} }
