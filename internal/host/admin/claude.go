package admin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/command"
	"scorel/internal/engine/config"
	"scorel/internal/engine/discovery"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/trust"
	"scorel/internal/host/doctor"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// What Claude Code's files count for here, for people: in the report of the
// configuration, in the list of hooks, and in the doctor's.

// claudeConfig adds what of Claude Code's settings is in force to a report, and a
// sentence for each key that is not.
func (ad *Admin) claudeConfig(rep *protocol.ConfigReport, cfg config.Config, root string) {
	if !cfg.Claude.Settings {
		return
	}
	for _, f := range ad.settings.Claude(root) {
		if f.Problem != "" {
			continue // Read has told it
		}
		add := func(key, value string) {
			e := protocol.ConfigEntry{Key: key, Value: value, Source: f.Name}
			if k, ok := config.KeyOf(key); ok {
				e.Type, e.Default, e.Doc = k.Type, k.Default, k.Doc
			}
			rep.Entries = append(rep.Entries, e)
		}
		deny, ask := f.Settings.Tightening()
		if len(ask) > 0 {
			add("permissions.ask", quotedList(ask))
		}
		if len(deny) > 0 {
			add("permissions.deny", quotedList(deny))
		}
		if f.Trusted {
			for _, k := range f.Settings.Hooks {
				add("hooks", fmt.Sprintf("{ command = %q, event = %q, matcher = %q }", k.Command, k.Event, k.Matcher))
			}
		} else if n := len(f.Settings.Hooks); n > 0 {
			rep.Notices = append(rep.Notices, fmt.Sprintf("%s: hooks (%d): they run when you trust the project; see scorel trust.", f.Name, n))
		}
		for _, n := range f.Settings.NotTaken {
			how := "Not taken from "
			if n.Differs {
				how = "Taken differently than written in "
			}
			rep.Notices = append(rep.Notices, how+f.Name+": "+n.String())
		}
	}
	// A key that has no value but these has no default either.
	set := map[string]bool{}
	for _, e := range rep.Entries {
		set[e.Key] = set[e.Key] || e.Source != string(config.SourceDefault)
	}
	rep.Entries = slices.DeleteFunc(rep.Entries, func(e protocol.ConfigEntry) bool {
		return e.Source == string(config.SourceDefault) && set[e.Key]
	})
	first := map[string]int{}
	for i, e := range rep.Entries {
		if _, ok := first[e.Key]; !ok {
			first[e.Key] = i
		}
	}
	slices.SortStableFunc(rep.Entries, func(a, b protocol.ConfigEntry) int { return first[a.Key] - first[b.Key] })
}

func quotedList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// claudeHooks adds the hooks of Claude Code's settings to a list of hooks.
func (ad *Admin) claudeHooks(list *protocol.HookList, cfg config.Config, root string) {
	if !cfg.Claude.Settings {
		return
	}
	for _, f := range ad.settings.Claude(root) {
		if f.Problem != "" {
			list.Problems = append(list.Problems, f.Problem)
		}
		for _, k := range f.Hooks() {
			info := protocol.HookInfo{Event: k.Event, Matcher: k.Matcher, Command: k.Command, TimeoutMS: k.Timeout.Milliseconds(),
				Scope: string(k.Source.Kind), Source: k.Source.File, State: "ok"}
			if k.Source.Kind == config.SourceProject {
				ad.judgeHook(&info, root, f.Trusted)
			}
			list.Hooks = append(list.Hooks, info)
		}
	}
}

// claudeCheck begins the ids of what there is of Claude Code's.
const claudeCheck = "claude-"

// claudeChecks are the checks of what there is of Claude Code's. What is not there has no
// text.
func (ad *Admin) claudeChecks(dir, root string) []doctor.Check {
	return []doctor.Check{
		{ID: claudeCheck + "settings", Look: func(context.Context) doctor.Finding { return ad.claudeSettingsFound(root) }},
		{ID: claudeCheck + "agents", Look: func(context.Context) doctor.Finding { return ad.claudeAgentsFound(root) }},
		{ID: claudeCheck + "commands", Look: func(ctx context.Context) doctor.Finding { return ad.claudeCommandsFound(ctx, dir, root) }},
		{ID: claudeCheck + "skills", Look: func(ctx context.Context) doctor.Finding { return ad.claudeSkillsFound(ctx, dir, root) }},
		{ID: claudeCheck + "md", Look: func(context.Context) doctor.Finding { return ad.claudeTextFound(root) }},
	}
}

// claudeSettingsFound returns what counts of the files of settings.
func (ad *Admin) claudeSettingsFound(root string) doctor.Finding {
	files := ad.settings.Claude(root)
	if len(files) == 0 {
		return doctor.Finding{}
	}
	if cfg, err := ad.settings.User(); err == nil && !cfg.Claude.Settings {
		return doctor.OK("not read, because claude.settings is false: %s", files[0].Name)
	}
	var counts, not, otherwise []string
	state := doctor.OK("")
	for _, f := range files {
		if f.Problem != "" {
			state = doctor.Warn("", "Correct the file.")
			counts = append(counts, strings.TrimRight(f.Problem, "."))
			continue
		}
		deny, ask := f.Settings.Tightening()
		hooks := fmt.Sprintf("hooks: %d", len(f.Settings.Hooks))
		if len(f.Settings.Hooks) > 0 && !f.Trusted {
			hooks += " (not trusted)"
			state = doctor.Warn("", "Look at the hooks with scorel trust, which asks whether they may run.")
		}
		counts = append(counts, fmt.Sprintf("%s counts with %s, deny rules: %d, ask rules: %d", f.Name, hooks, len(deny), len(ask)))
		for _, n := range f.Settings.NotTaken {
			if n.Differs {
				otherwise = append(otherwise, n.Key)
			} else {
				not = append(not, n.Key)
			}
		}
		if len(f.Settings.Lost()) > 0 {
			state = doctor.Warn("", "Rules that deny or ask, or hooks before calls, do not count as they are written there; scorel config check says which, and why.")
		}
	}
	text := strings.Join(counts, "; ")
	if len(otherwise) > 0 {
		text += "; taken differently than written: " + someOf(otherwise)
	}
	if len(not) > 0 {
		text += "; not taken: " + someOf(not)
	}
	if state.Advice == "" && len(not)+len(otherwise) > 0 {
		state.Advice = "scorel config check explains each."
	}
	state.Text = text
	return state
}

// claudeAgentsFound returns which agents of .claude/agents count.
func (ad *Admin) claudeAgentsFound(root string) doctor.Finding {
	var good, bad []string
	for _, e := range ad.settings.Agents(root).Entries {
		switch {
		case !e.Foreign:
		case e.State == agent.OK:
			good = append(good, e.Name)
		default:
			bad = append(bad, e.Name+" ("+string(e.State)+")")
		}
	}
	return counted("agents", good, bad, "scorel agents check says why.")
}

// counted is the finding about things of a kind.
func counted(kind string, good, bad []string, advice string) doctor.Finding {
	if len(good)+len(bad) == 0 {
		return doctor.Finding{}
	}
	text := kind + " that count: " + someOf(good)
	if len(good) == 0 {
		text = "none of the " + kind + " counts"
	}
	if len(bad) > 0 {
		return doctor.Warn(text+"; not: "+someOf(bad), advice)
	}
	return doctor.OK("%s", text)
}

// someOf names the first of a list.
func someOf(list []string) string {
	const most = 20
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// claudeCommandsFound returns which commands of .claude/commands count.
func (ad *Admin) claudeCommandsFound(ctx context.Context, dir, root string) doctor.Finding {
	places, _ := ad.settings.Places("commands", dir, root, ".claude")
	list, _ := command.NewTemplates(ad.settings.Dir).Find(ctx, places)
	var good, bad []string
	for _, t := range list {
		switch {
		case !t.Place.Foreign():
		case t.Problem != "", t.Shell && t.Place.Scope == discovery.Project && !ad.trustsCommand(root, t.Trusted()):
			bad = append(bad, "/"+t.Name)
		default:
			good = append(good, "/"+t.Name)
		}
	}
	return counted("commands", good, bad, "/help says why; scorel trust shows those with shell lines.")
}

// trustsCommand reports whether the shell lines of a project's command may run.
func (ad *Admin) trustsCommand(root, name string) bool {
	if name == "" {
		return false
	}
	_, trusted, _, err := ad.settings.Trust.Read(root, trust.KindCommand, name, command.MaxFile)
	return err == nil && trusted
}

// claudeSkillsFound returns which skills of .claude/skills count.
func (ad *Admin) claudeSkillsFound(ctx context.Context, dir, root string) doctor.Finding {
	var good, bad []string
	for _, s := range ad.skills.FindSkills(ctx, dir, root).Skills {
		switch {
		case !s.Place.Foreign():
		case s.State == skill.OK:
			good = append(good, s.Name)
		default:
			bad = append(bad, s.Name+" ("+s.State+")")
		}
	}
	return counted("skills", good, bad, "scorel skills check says why.")
}

// claudeTextFound returns which CLAUDE.md is read.
func (ad *Admin) claudeTextFound(root string) doctor.Finding {
	there := func(name string) bool { info, err := os.Stat(name); return err == nil && info.Mode().IsRegular() }
	var read, not []string
	if root != "" {
		switch name := filepath.Join(root, "CLAUDE.md"); {
		case there(name) && there(filepath.Join(root, "AGENTS.md")):
			not = append(not, name+" (AGENTS.md beside it is read)")
		case there(name):
			read = append(read, name)
		}
		for _, name := range []string{".claude/CLAUDE.md", "CLAUDE.local.md"} {
			if name = filepath.Join(root, name); there(name) && root != settings.Canonical(ad.settings.UserHome) {
				not = append(not, name)
			}
		}
	}
	if name := filepath.Join(ad.settings.UserHome, ".claude", "CLAUDE.md"); there(name) {
		not = append(not, name)
	}
	switch {
	case len(read)+len(not) == 0:
		return doctor.Finding{}
	case len(not) == 0:
		return doctor.OK("read: %s", strings.Join(read, ", "))
	}
	text := "not read: " + strings.Join(not, ", ")
	if len(read) > 0 {
		text = "read: " + strings.Join(read, ", ") + "; " + text
	}
	return doctor.OK("%s", text)
}
