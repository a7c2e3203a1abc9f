package settings

import (
	"fmt"
	"path/filepath"
	"strings"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/claude"
	"scorel/internal/engine/command"
	"scorel/internal/engine/config"
	"scorel/internal/engine/discovery"
	"scorel/internal/engine/trust"
)

// ClaudeFile is a file of Claude Code's settings that is there.
type ClaudeFile struct {
	Name string            // its path
	Kind config.SourceKind // whose it is: user or project
	// Trusted says that its hooks run.
	Trusted bool
	// Settings are what it holds; with a Problem, a sentence, none of it counts.
	Settings claude.Settings
	Problem  string
}

// Claude reads Claude Code's settings: the user's, and with a root those of the project
// there.
func (st *Settings) Claude(root string) []ClaudeFile {
	var out []ClaudeFile
	add := func(f ClaudeFile, data []byte, err error) {
		if err == nil && data == nil {
			return
		}
		if err == nil {
			var s *claude.Settings
			if s, err = claude.Parse(data); err == nil {
				f.Settings = *s
			} else {
				err = fmt.Errorf("%s does not count: %w", f.Name, err)
			}
		}
		if err != nil {
			f.Problem = strings.TrimRight(err.Error(), ".") + "."
		}
		out = append(out, f)
	}
	user, err := config.Read(filepath.Join(st.UserHome, claude.UserSettings))
	add(ClaudeFile{Name: filepath.Join(st.UserHome, claude.UserSettings), Kind: config.SourceUser, Trusted: true}, user.Data, err)
	if root == "" || root == Canonical(st.UserHome) {
		return out
	}
	for _, name := range claude.Files() {
		data, trusted, _, err := st.Trust.Read(root, trust.KindSettings, name, claude.MaxFile)
		add(ClaudeFile{Name: filepath.Join(root, name), Kind: config.SourceProject, Trusted: trusted}, data, err)
	}
	return out
}

// Hooks returns the hooks of the file, whether they run or not.
func (f *ClaudeFile) Hooks() []config.Hook {
	out := make([]config.Hook, len(f.Settings.Hooks))
	for i, h := range f.Settings.Hooks {
		out[i] = config.Hook{Event: h.Event, Matcher: h.Matcher, Command: h.Command, Timeout: h.Timeout, Number: i + 1,
			Source: config.Source{Kind: f.Kind, File: f.Name}, Claude: true}
	}
	return out
}

// withClaude adds to a configuration what of Claude Code's settings counts: hooks of the
// user's and of trusted files, and rules that deny or ask, which only tighten. The
// notices name the files of which a guard does not.
func (st *Settings) withClaude(cfg *config.Config, root string) (notices []config.Notice) {
	if !cfg.Claude.Settings {
		return nil
	}
	for _, f := range st.Claude(root) {
		if f.Problem != "" {
			notices = append(notices, config.Notice{Text: f.Problem})
			continue
		}
		if f.Trusted {
			cfg.Hooks = append(cfg.Hooks, f.Hooks()...)
		}
		if deny, ask := f.Settings.Tightening(); len(deny)+len(ask) > 0 {
			cfg.Permissions.Others = append(cfg.Permissions.Others, config.Rules{File: f.Name, Deny: deny, Ask: ask})
		}
		if lost := f.Settings.Lost(); len(lost) > 0 {
			text := f.Name + ": " + lost[0].String()
			if len(lost) > 1 {
				text += fmt.Sprintf(" %d more of its rules and hooks do not count; scorel doctor names them.", len(lost)-1)
			}
			notices = append(notices, config.Notice{Text: text})
		}
	}
	return notices
}

// tier returns the model that the user has named for one of Claude Code's words for
// models; ok is false for what is no such word, or an alias of the user's.
func tier(user config.Config, name string) (ref string, ok bool) {
	if _, alias := user.Models[name]; alias {
		return "", false
	}
	return user.Tiers.Model(name)
}

// inherited is why the model in force works in the place of one that a file names.
func inherited(name string) string {
	switch name {
	case "haiku", "sonnet", "opus":
		return fmt.Sprintf("tiers.%s names no model in config.toml, so the current model is used", name)
	}
	return fmt.Sprintf("the model %.80s cannot be used here, so the current model is used", name)
}

// ClaudeModel returns the model that a file of Claude Code means: "" is the one in force.
// Note returns why it is that one, where the file names another.
func (st *Settings) ClaudeModel(user config.Config, name string, foreign bool) (ref, note string) {
	switch ref, ok := tier(user, name); {
	case name == "" || name == "inherit":
		return "", ""
	case ok && ref == "":
		return "", inherited(name)
	case ok:
		return ref, ""
	case foreign && !st.Usable(user, name):
		return "", inherited(name)
	}
	return name, ""
}

// AgentModelNote returns why an agent works with the model in force though its file names
// another, "" where it does not.
func (st *Settings) AgentModelNote(d *agent.Definition) string {
	user, err := st.User()
	if err != nil {
		return ""
	}
	_, note := st.ClaudeModel(user, d.Model, d.Foreign)
	return note
}

// CommandModel returns the model that a template in a place names; see [Settings.ClaudeModel].
func (st *Settings) CommandModel(p discovery.Place, name string) (ref, note string) {
	user, err := st.User()
	if err != nil {
		return name, "" // the turn says what is wrong
	}
	return st.ClaudeModel(user, name, p.Foreign())
}

// Granted returns the rules that the allowed-tools of a template are. Only the user's own
// templates grant something; what is what people call one.
func Granted(t command.Template, what string) (rules []string, note string) {
	if len(t.Tools) == 0 {
		return nil, ""
	}
	if t.Place.Scope != discovery.User {
		return nil, "allowed-tools grants nothing in " + what + " that is not your own"
	}
	var lost []string
	for _, text := range t.Tools {
		r := claude.Allows(text)
		if len(r.As) == 0 && !r.Nothing {
			lost = append(lost, text)
		}
		rules = append(rules, r.As...)
	}
	if len(lost) > 0 {
		note = "allowed-tools has what no rule that allows can say: " + strings.Join(lost, ", ")
	}
	return rules, note
}
