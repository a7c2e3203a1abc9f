package tool

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool/search"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

//go:embed discoverskills.md
var discoverSkillsText string

const (
	// FoundSkills is how many skills a search returns that names no number, and MaxFoundSkills
	// how many at most.
	FoundSkills    = 5
	MaxFoundSkills = 25
	// ManySkills is how many skills a session has for a search to be of use: fewer are
	// described whole in the reminder.
	ManySkills = 20
)

// FindSkills returns the skills that fit a query, at most so many, the best first. Its forms
// are those of [search.Parse].
func FindSkills(skills []skill.Skill, query string, most int) (out []skill.Skill) {
	docs, named := make([]search.Document, len(skills)), map[string]skill.Skill{}
	for i, s := range skills {
		docs[i] = search.Document{Name: s.Name, Hint: s.Label, Description: s.Description}
		named[s.Name] = s
	}
	hits, _ := search.New(docs, search.SkillWeights()).Find(search.Parse(query), most)
	for _, h := range hits {
		out = append(out, named[h.Name])
	}
	return out
}

type discoverSkillsTool struct {
	skills  *skill.Set
	prompts Prompts
}

// With implements [Needy].
func (t discoverSkillsTool) With(g Setting, _ Session) Tool {
	t.skills, t.prompts = g.Skills, g.Prompts
	return t
}

type discoverSkillsInput struct {
	Query string `json:"query"`
	Max   int    `json:"max_results"`
}

// discoverSkillsInfo is what the tool means to others.
var discoverSkillsInfo = protocol.ToolInfo{Name: "DiscoverSkills", Kind: protocol.ToolOwn, TitleField: "query"}

// discoverSkillsSchema is the JSON Schema of its input.
var discoverSkillsSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":1000,"description":"Words, or one of the other forms."},` +
		`"max_results":{"type":"integer","minimum":1,"maximum":25,"description":"5 without it."}},` +
		`"required":["query"],"additionalProperties":false}`)

// Spec implements [Tool].
func (discoverSkillsTool) Spec() Spec {
	return Spec{ToolInfo: discoverSkillsInfo, Needs: NeedsManySkills, Preset: ReadOnly, Deferred: true, Description: discoverSkillsText, Parallel: true, Schema: discoverSkillsSchema}
}

// Prepare implements [Tool].
func (t discoverSkillsTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[discoverSkillsInput](call)
	if err != nil {
		return nil, err
	}
	return discoverSkillsCall{t, in}, nil
}

type discoverSkillsCall struct {
	tool discoverSkillsTool
	in   discoverSkillsInput
}

// Action implements [Prepared].
func (discoverSkillsCall) Action() permission.Action {
	return permission.Action{Tool: discoverSkillsInfo.Name, Kind: discoverSkillsInfo.Kind}
}

// Snapshots implements [Prepared].
func (discoverSkillsCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (discoverSkillsCall) Close() {}

// Run implements [Prepared].
func (c discoverSkillsCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	all := c.tool.skills.All()
	if c.tool.prompts != nil {
		all = append(slices.Clone(all), slices.DeleteFunc(c.tool.prompts.List(), func(p skill.Skill) bool { return c.tool.skills.Has(p.Name) })...)
	}
	found := FindSkills(all, c.in.Query, min(cmp.Or(c.in.Max, FoundSkills), MaxFoundSkills))
	if len(found) == 0 {
		return textResult("No skill was found. Try other words, or go on without one."), ctx.Err()
	}
	var b strings.Builder
	ofServer := false
	for _, s := range found {
		b.WriteString(s.Front())
		switch {
		case s.Project():
			b.WriteString(" [project]")
		case s.Server != "":
			ofServer = true
			b.WriteString(" [server " + s.Server + "]")
		}
		if text := strings.Join(strings.Fields(s.Description), " "); text != "" {
			b.WriteString(": " + promptsafe.Escape(text))
		}
		b.WriteString("\n")
	}
	b.WriteString("Call Skill with the name of one for its text. What is marked [project] was written in files of the project, not by the user.")
	if ofServer {
		b.WriteString(" What is marked [server] is a prompt of an MCP server and says what that server wants: its args are what is in the parentheses, in this order, or a JSON object of them.")
	}
	return textResult(b.String()), ctx.Err()
}
