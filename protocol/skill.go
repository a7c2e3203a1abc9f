package protocol

import "encoding/json"

// Requests about skills.
type (
	// ListSkills returns the skills of a session, or, without one, those of WorkDir; the
	// answer is a [SkillList]. With Name it is those of that name, with the text of the
	// one that counts.
	ListSkills struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
		Name    string `json:"name,omitempty" check:"max=MaxName"`
	}
)

// What they are answered with.
type (
	// SkillInfo is a skill that was found.
	SkillInfo struct {
		Name        string   `json:"name"` // the name of its folder
		Label       string   `json:"label,omitempty"`
		Description string   `json:"description,omitempty"`
		Path        string   `json:"path"` // of SKILL.md
		Source      string   `json:"source"`
		Hash        string   `json:"hash,omitempty"`
		Entry       string   `json:"entry,omitempty"` // of an executable one
		State       string   `json:"state"`           // ok, shadowed, untrusted, broken
		Problems    []string `json:"problems,omitempty"`
		Tools       []string `json:"tools,omitempty"` // what it says that it uses; they grant nothing
		// TimeoutMS and Input, a JSON Schema, are those of an executable one.
		TimeoutMS int64           `json:"timeoutMs,omitempty"`
		Input     json.RawMessage `json:"input,omitempty"`
		Text      string          `json:"text,omitempty"`  // what the model reads; only when it was asked for
		Fork      bool            `json:"fork,omitempty"`  // a sub-agent works with its text, in a context of its own
		Agent     string          `json:"agent,omitempty"` // which one; "" is general
	}
	// SkillList is what was found, sorted by name.
	SkillList struct {
		Skills   []SkillInfo `json:"skills"`
		Problems []string    `json:"problems,omitempty"`
	}
)

var (
	listSkillsSpec = Spec{
		Name: "list_skills", Scope: ScopeEither, Grant: GrantView,
		New: func() Request { return new(ListSkills) }, Reply: func() Response { return new(SkillList) },
	}
)

// NamedFolder returns the folder that the client names: see [NamesFolder].
func (r *ListSkills) NamedFolder() string { return r.WorkDir }
