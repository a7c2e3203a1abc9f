package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"scorel/internal/engine/discovery"
	"scorel/internal/text/frontmatter"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// File is the name of the file that makes a folder a skill.
const File = "SKILL.md"

// Bounds of one skill.
const (
	MaxBody        = 50 << 10               // bytes of its text
	maxFile        = 2*MaxBody + (64 << 10) // bytes of SKILL.md; a longer text is listed and refused
	maxDescription = 1000                   // characters
	maxLabel       = 100                    // characters
	maxSchema      = 32 << 10               // bytes of the schema of its input
	maxTools       = 100                    // names in allowed-tools
	maxEntry       = 200                    // bytes of the path of its entry
	DefaultTimeout = 10 * time.Minute
	MaxTimeout     = time.Hour
)

// The states of a skill.
const (
	OK        = "ok"
	Shadowed  = "shadowed"  // another one counts in its place
	Untrusted = "untrusted" // its text can be used, its entry does not run
	Broken    = "broken"
)

// Skill is a skill as it was found.
type Skill struct {
	Name        string // of its folder
	Label       string
	Description string
	Tools       []string // allowed-tools, for people: they grant nothing
	Dir         string   // its folder, without links; "" when that cannot be told
	Path        string   // of SKILL.md, as it was found
	Place       discovery.Place
	Hash        string // SHA-256 of SKILL.md
	Entry       string // its program, relative to Dir; "" without one
	Timeout     time.Duration
	Input       json.RawMessage // JSON Schema of the program's input; nil: anything
	// Fork reports that a sub-agent works with the text, in a context of its own, and Agent
	// says which one, "" for the usual.
	Fork  bool
	Agent string
	// Server is the MCP server, as it is configured, of a prompt that is used like a skill, and
	// Args how its arguments are typed. Nothing of it is on the disk.
	Server   string
	Args     string
	State    string
	Problems []string // sentences
}

// Project reports that its text is a project's, which nobody vouches for.
func (s *Skill) Project() bool { return s.Place.Scope == discovery.Project }

// Info is the skill for people.
func (s *Skill) Info() protocol.SkillInfo {
	info := protocol.SkillInfo{Name: s.Name, Label: s.Label, Description: s.Description, Path: s.Path, Source: s.Place.Label, Hash: s.Hash,
		Entry: s.Entry, State: s.State, Problems: s.Problems, Tools: s.Tools, Input: s.Input, Fork: s.Fork, Agent: s.Agent}
	if s.Entry != "" {
		info.TimeoutMS = s.Timeout.Milliseconds()
	}
	return info
}

// trusted is the name by which trust knows the skill's folder, "" for what it does
// not know.
func (s *Skill) trusted() string {
	if s.Place.Name == "" {
		return ""
	}
	return s.Place.Name + "/" + s.Name
}

// parse reads the fields of a SKILL.md. What is wrong with them is the error; body is
// the text after them.
func parse(data []byte) (s Skill, body string, err error) {
	return parseWith(frontmatter.Parse, data)
}

// parseIn is parse of a file in a place: one of another program's is read as loosely as
// that reads it.
func parseIn(p discovery.Place, data []byte) (s Skill, body string, err error) {
	if p.Foreign() {
		return parseWith(frontmatter.ParseLenient, data)
	}
	return parse(data)
}

func parseWith(read func([]byte) (*frontmatter.Document, error), data []byte) (s Skill, body string, err error) {
	d, err := read(data)
	if err != nil {
		return s, "", err
	}
	for _, f := range d.Fields {
		v := f.Value
		switch f.Name {
		case "name":
			s.Label, err = v.Text()
		case "description":
			s.Description, err = v.Text()
		case "when-to-use", "when_to_use":
		case "allowed-tools":
			if s.Tools, err = v.List(); len(s.Tools) > maxTools {
				s.Tools = s.Tools[:maxTools]
			}
		case "entry":
			if s.Entry, err = v.Text(); err == nil {
				err = checkEntry(s.Entry)
			}
		case "timeoutMs":
			var ms int
			if ms, err = v.Int(1, int(MaxTimeout.Milliseconds())); err == nil {
				s.Timeout = time.Duration(ms) * time.Millisecond
			}
		case "input":
			s.Input, err = schema(v)
		case "context":
			s.Fork, err = forks(v)
		case "agent":
			if s.Agent, err = v.Text(); err == nil && len(s.Agent) > maxLabel {
				err = fmt.Errorf("agent has more than %d bytes", maxLabel)
			}
		}
		if err != nil {
			var fault *frontmatter.Error
			if !errors.As(err, &fault) {
				err = &frontmatter.Error{Line: f.Line, Problem: err.Error()}
			}
			return s, "", err
		}
	}
	for _, name := range []string{"when-to-use", "when_to_use"} {
		if f, ok := d.Field(name); ok {
			when, err := f.Value.Text()
			if err != nil {
				return s, "", err
			}
			if s.Description != "" && !strings.ContainsAny(s.Description[len(s.Description)-1:], ".!?:;,") {
				s.Description += "."
			}
			s.Description = strings.TrimSpace(s.Description + " " + when)
		}
	}
	if s.Description == "" {
		s.Description = firstLine(d.Body)
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	s.Label, s.Description = line(s.Label, maxLabel), line(s.Description, maxDescription)
	for i, t := range s.Tools {
		s.Tools[i] = line(t, maxLabel)
	}
	return s, d.Body, nil
}

// forks reads the field context.
func forks(v frontmatter.Value) (bool, error) {
	switch text, err := v.Text(); {
	case err != nil:
		return false, err
	case text == "fork":
		return true, nil
	case text == "" || text == "inline":
		return false, nil
	default:
		return false, fmt.Errorf("context is %.40q; it can be fork, for a sub-agent that works with the text, or inline", text)
	}
}

// checkEntry returns what is wrong with the path of an entry.
func checkEntry(entry string) error {
	switch {
	case entry == "":
		return errors.New("entry is empty; name a file of the skill's folder")
	case len(entry) > maxEntry || strings.ContainsFunc(entry, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("entry must be the path of a file, of at most %d bytes", maxEntry)
	case !filepath.IsLocal(entry) || filepath.Clean(entry) == ".":
		return errors.New("entry must be a file in the skill's folder, and named relative to it")
	}
	return nil
}

// schema reads the JSON Schema of an input.
func schema(v frontmatter.Value) (json.RawMessage, error) {
	data, err := v.JSON()
	if err != nil {
		return nil, err
	}
	if len(data) > maxSchema {
		return nil, fmt.Errorf("input has more than %d KiB", maxSchema>>10)
	}
	if _, err := resolve(data); err != nil {
		return nil, fmt.Errorf("input is not a JSON Schema: %w", err)
	}
	return data, nil
}

// resolve makes a schema ready. It loads nothing: a reference leads nowhere outside.
func resolve(data json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

func firstLine(body string) string {
	for l := range strings.Lines(body) {
		if l = strings.Trim(l, "# \t\r\n"); l != "" {
			return l
		}
	}
	return ""
}

// line makes one line of a text, of at most n characters.
func line(s string, n int) string {
	s = strings.Join(strings.Fields(promptsafe.Clean(s)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
