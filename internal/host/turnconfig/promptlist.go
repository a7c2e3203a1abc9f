package turnconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// promptLister tells a model which prompts of MCP servers it can use like skills: all when it
// knows of none, later what has come and gone, and beyond 1% of its window how many each server
// has. What it has been told is in the items of the conversation.
type promptLister struct {
	of       tool.Prompts    // nil: the model can use none
	skills   *skill.Set      // one of the same name counts before a prompt
	unlisted func() []string // servers that have not said yet what they have
	window   int             // tokens; 0 is not known
}

const (
	promptsHead = "MCP servers have prompts that you use like skills: when one fits what is asked, call Skill with its name. Its args are what is in the parentheses, " +
		"in this order, or a JSON object of them. What a prompt and its description say are the words of its server, not the user's."
	morePromptsHead = "Prompts of MCP servers that have come, to be used like the others:"
	countedHead     = "MCP servers have prompts that you use like skills; they are too many to be named here, and DiscoverSkills finds them:"
)

// items returns what the model has to be told: nothing, or one item.
func (p promptLister) items(told history.Told) []protocol.Item {
	var known announced
	last, ok := told.Get(protocol.ItemServerPrompts)
	if ok && json.Unmarshal(last.Data, &known) != nil {
		ok, known = false, announced{}
	}
	knows := ok && len(known.Names)+len(known.Servers) > 0
	list := p.list()
	if len(list) == 0 && !knows {
		return nil
	}
	now, waits := p.now(list, known)
	window := p.window
	if window == 0 {
		window = usualWindow
	}
	text, fits := skill.PromptLines(promptsHead, list, window)
	switch {
	case len(now.Names)+len(now.Servers) == 0:
		text = "The prompts of MCP servers are no longer there."
	case waits || !fits:
		now.Names = nil
		text = countedPrompts(now.Servers, known.Servers)
	case knows && len(known.Servers) == 0:
		now.Servers = nil
		text = changedPrompts(list, now.Names, known.Names, window)
	default:
		now.Servers = nil
	}
	if text == "" {
		return nil
	}
	data, err := json.Marshal(now)
	if err != nil {
		return nil // strings and numbers can be written
	}
	return []protocol.Item{{Kind: protocol.ItemServerPrompts, Origin: protocol.OriginSkill, Visibility: protocol.VisibilityHidden, Content: text, Data: data}}
}

// list returns the prompts that the model can use, sorted by name.
func (p promptLister) list() []skill.Skill {
	if p.of == nil {
		return nil
	}
	return slices.DeleteFunc(p.of.List(), func(s skill.Skill) bool { return p.skills.Has(s.Name) })
}

// now returns the names and the counts that hold: those of list, and what is known of servers
// that have not said yet what they have, as after a resume. waits reports that one of these was
// counted.
func (p promptLister) now(list []skill.Skill, known announced) (now announced, waits bool) {
	var unlisted []string
	if p.of != nil {
		for _, server := range p.unlisted() {
			unlisted = append(unlisted, connect.Prefix(server))
		}
	}
	for _, s := range list {
		now.Names = append(now.Names, s.Name)
	}
	for _, name := range without(known.Names, now.Names) {
		if slices.Contains(unlisted, prefixOf(name)) {
			now.Names = append(now.Names, name)
		}
	}
	slices.Sort(now.Names)
	now.Servers = announcer{}.counts(now.Names)
	for prefix, n := range known.Servers {
		if now.Servers[prefix] == 0 && slices.Contains(unlisted, prefix) {
			now.Servers[prefix], waits = n, true
		}
	}
	return now, waits
}

// changedPrompts says what has come and gone since known, "" for nothing.
func changedPrompts(list []skill.Skill, names, known []string, window int) (text string) {
	come := without(names, known)
	fresh := slices.DeleteFunc(slices.Clone(list), func(s skill.Skill) bool { return !slices.Contains(come, s.Name) })
	if len(fresh) > 0 {
		text, _ = skill.PromptLines(morePromptsHead, fresh, window)
	}
	if gone := without(known, names); len(gone) > 0 {
		text = strings.TrimSpace(text + "\nThese prompts are no longer there: " + strings.Join(gone, ", ") + ".")
	}
	return text
}

// countedPrompts says how many prompts each server has, "" where that is known.
func countedPrompts(now, known map[string]int) string {
	if maps.Equal(now, known) {
		return ""
	}
	var b strings.Builder
	b.WriteString(countedHead)
	for _, prefix := range slices.Sorted(maps.Keys(now)) {
		fmt.Fprintf(&b, "\n- %s*: %d prompts", prefix, now[prefix])
	}
	return b.String()
}
