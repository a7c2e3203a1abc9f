package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/claude"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
	"scorel/internal/text/frontmatter"
	"scorel/internal/text/spelling"
)

// Bounds of a definition.
const (
	MaxFile        = 128 << 10 // bytes of a file
	MaxPrompt      = 64 << 10  // bytes of a prompt
	MaxName        = 64        // characters
	MaxDescription = 1000      // characters; a longer one is cut
	MaxTools       = 200       // names in tools, and in deny
	MaxSteps       = 1000      // that maxSteps may say
)

// Scope says whose a definition is.
type Scope string

// The scopes.
const (
	Builtin Scope = "builtin"
	User    Scope = "user"
	Project Scope = "project"
)

// Definition is an agent that can be started.
type Definition struct {
	Name        string
	Description string
	Path        string // of its file, "" for a built-in one
	Scope       Scope
	// Preset is the preset of tools, "" where Tools lists them; with neither the
	// agent gets the tools of the session that starts it.
	Preset string
	Tools  []string
	Deny   []string // tools that it does not get
	Model  string   // "" is that of the session that starts it
	Mode   permission.Mode
	// MaxSteps bounds a run of the agent; 0 leaves that to the configuration.
	MaxSteps int
	Prompt   string
	Extra
	// Foreign says that the file was written for another program: what of it does
	// not exist here is left out.
	Foreign bool
	// Note says what of the file has no effect, "" for nothing.
	Note string
}

// fields are the names that a file of Scorel's may have.
func fields() []string {
	return []string{"name", "description", "tools", "deny", "model", "permissionMode", "maxSteps",
		"color", "effort", "background", "skills", "initialPrompt", "hooks", "mcpServers", "requiredMcpServers"}
}

// foreign returns the field of Scorel's that a field of another program's is, and
// whether it is known there.
func foreign(name string) (own string, known bool) {
	switch name {
	case "disallowedTools":
		return "deny", true
	case "maxTurns":
		return "maxSteps", true
	case "hooks", "isolation", "memory": // hooks have another form there
		return "", true
	}
	return name, slices.Contains(fields(), name)
}

// Parse reads a file. name is the path as it is shown; the error is a sentence that
// begins with it and the line.
func Parse(name string, data []byte, scope Scope, isForeign bool) (*Definition, error) {
	read := frontmatter.Parse
	if isForeign {
		read = frontmatter.ParseLenient
	}
	doc, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s", frontmatter.At(name, err))
	}
	d := &Definition{Name: strings.TrimSuffix(path.Base(name), ".md"), Path: name, Scope: scope, Foreign: isForeign}
	if len(doc.Fields) == 0 {
		return nil, fmt.Errorf("%s:1: an agent begins with fields between two lines of ---; it needs a description", name)
	}
	line := 1
	for _, f := range doc.Fields {
		if f.Name == "name" {
			line = f.Line
		}
		if err := d.set(f); err != nil {
			return nil, fmt.Errorf("%s", frontmatter.At(name, err))
		}
	}
	if !validName(d.Name) {
		return nil, fmt.Errorf("%s:%d: %.80q is not a name for an agent; use up to %d letters, digits, - and _", name, line, d.Name, MaxName)
	}
	d.Prompt = strings.TrimSpace(doc.Body)
	switch {
	case d.Description == "":
		return nil, fmt.Errorf("%s:1: description is missing; it says when the agent is to be used", name)
	case d.Prompt == "":
		return nil, fmt.Errorf("%s:%d: the prompt is missing; it is the text after the fields", name, doc.BodyLine)
	case len(d.Prompt) > MaxPrompt:
		return nil, fmt.Errorf("%s:%d: the prompt has %d bytes; at most %d are possible", name, doc.BodyLine, len(d.Prompt), MaxPrompt)
	}
	return d, nil
}

func (d *Definition) set(f frontmatter.Field) error {
	name := f.Name
	wrong := func(format string, args ...any) error {
		return &frontmatter.Error{Line: f.Line, Problem: fmt.Sprintf(format, args...)}
	}
	own, known := name, slices.Contains(fields(), name)
	if d.Foreign {
		own, known = foreign(name)
	}
	if !known && d.Foreign {
		own, known = "", true
	}
	if !known {
		return wrong("an agent has no field %.60q%s; there are %s", name, meant(name), strings.Join(fields(), ", "))
	}
	if is, err := d.setExtra(own, f, wrong); is {
		if err != nil && d.Foreign { // made for another program, which may have more
			d.note("%s has no effect in Scorel: %v", name, err)
			return nil
		}
		return err
	}
	text, err := "", error(nil)
	switch own {
	case "name", "description", "model", "permissionMode":
		if text, err = f.Value.Text(); err != nil {
			return err
		}
	}
	switch own {
	case "": // of no meaning here
		d.note("%s has no effect in Scorel", name)
	case "name":
		d.Name = text
	case "description":
		d.Description = cut(strings.Join(strings.Fields(text), " "), MaxDescription)
	case "model":
		if d.Model = text; text == "inherit" {
			d.Model = ""
		}
	case "permissionMode":
		if text == "" {
			return nil
		}
		if d.Mode, err = permission.ParseMode(text); err != nil && d.Foreign {
			d.Mode = ""
			d.note("there is no permission mode %.40q in Scorel, so that of the session counts", text)
			return nil
		}
		if err != nil {
			return wrong("%v", err)
		}
		if d.Mode == permission.Bypass && d.Scope == Project && d.Foreign {
			d.Mode = ""
			d.note("a project's agent does not get the permission mode bypassPermissions, so that of the session counts")
			return nil
		}
		if d.Mode == permission.Bypass && d.Scope == Project {
			return wrong("a project's agent cannot have the permission mode bypassPermissions")
		}
	case "maxSteps":
		if d.MaxSteps, err = f.Value.Int(1, MaxSteps); err != nil && d.Foreign {
			d.MaxSteps = 0
			d.note("%s is not a number from 1 to %d and does not count", name, MaxSteps)
			return nil
		}
		return err
	case "tools":
		return d.setTools(f, wrong)
	case "deny":
		d.Deny, err = d.names(f, wrong)
		return err
	}
	return nil
}

func (d *Definition) setTools(f frontmatter.Field, wrong func(string, ...any) error) error {
	list, err := d.names(f, wrong)
	if err != nil {
		return err
	}
	if d.Foreign && slices.Contains(list, "*") { // as without the field
		return nil
	}
	if len(list) == 1 {
		switch list[0] {
		case "coding", "readonly", "all", "none":
			d.Preset = list[0]
			return nil
		}
	}
	if len(list) == 0 {
		d.Preset = "none"
		return nil
	}
	d.Tools = list
	builtin := toolNames()
	for _, name := range list {
		if !slices.Contains(builtin, name) && !strings.HasPrefix(name, "mcp__") {
			d.note("there is no built-in tool %q%s, so the agent has it only where an extension gives it", name, near(name, builtin))
		}
	}
	return nil
}

// names returns a list of tools: of those of another program the ones that they are here.
func (d *Definition) names(f frontmatter.Field, wrong func(string, ...any) error) ([]string, error) {
	list, err := f.Value.List()
	if err != nil {
		return nil, err
	}
	if len(list) > MaxTools {
		return nil, wrong("%s names %d tools; at most %d are possible", f.Name, len(list), MaxTools)
	}
	if d.Foreign {
		list = d.toolsHere(list)
	}
	for _, name := range list {
		if !validTool(name) && !(d.Foreign && name == "*") {
			return nil, wrong("%s has %.80q, which is not a name of a tool; rules about what a tool may do are in config.toml", f.Name, name)
		}
	}
	return list, nil
}

// toolsHere returns the tools here that a list of another program names.
func (d *Definition) toolsHere(list []string) (out []string) {
	for _, theirs := range list {
		name, note := claude.AgentTool(theirs)
		if note != "" {
			d.note("%s", note)
		}
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (d *Definition) note(format string, args ...any) {
	if d.Note != "" {
		d.Note += "; "
	}
	d.Note = cut(d.Note+fmt.Sprintf(format, args...), MaxDescription)
}

func toolNames() []string { return tool.Names(tool.Named()) }

// Pick returns those of the tools of a session that the agent gets. Only one whose
// list names Task can start agents itself, and only while deeper says so.
func (d *Definition) Pick(from []tool.Tool, deeper bool) []tool.Tool {
	var preset []string
	if d.Preset != "" {
		picked, err := tool.Select(d.Preset, nil)
		if err != nil {
			return nil // Parse lets no other preset pass
		}
		preset = tool.Names(picked)
	}
	var out []tool.Tool
	for _, t := range from {
		name := t.Spec().Name
		listed := slices.Contains(d.Tools, name)
		switch {
		case slices.Contains(d.Deny, name):
		case name == tool.TaskName:
			if listed && deeper {
				out = append(out, t)
			}
		case len(d.Tools) > 0 && !listed:
		case d.Preset == "all" || d.Preset == "coding": // all that the session has, also of extensions
			out = append(out, t)
		case d.Preset != "" && !slices.Contains(preset, name):
		default:
			out = append(out, t)
		}
	}
	return out
}

func validName(s string) bool {
	if s == "" || utf8.RuneCountInString(s) > MaxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !letter(c) && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return true
}

func validTool(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func meant(name string) string { return near(name, fields()) }

// near returns which name was perhaps meant.
func near(name string, all []string) string {
	if len(name) > 60 {
		return ""
	}
	for _, other := range all {
		if spelling.Distance(strings.ToLower(name), strings.ToLower(other)) <= 2 {
			return fmt.Sprintf(" (did you mean %s?)", other)
		}
	}
	return ""
}

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
