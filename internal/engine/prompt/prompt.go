package prompt

import (
	_ "embed" // the baseline
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"scorel/protocol"
)

//go:embed baseline.md
var baseline string

// Version is the version of the instructions that Build makes.
const Version = 1

// The priorities of the sections; a higher one is cut later.
const (
	priorityBaseline    = 100
	priorityEnvironment = 90
	priorityUser        = 80
	priorityAgents      = 70
	priorityWorkspace   = 60
)

// Config is what a prompt is built from.
type Config struct {
	WorkDir      string // where the session works: absolute, without symlinks
	Root         string // the workspace: absolute, without symlinks; WorkDir or above
	Home         string // of the user: absolute, without symlinks
	UserPrompt   string // the key prompt of the user's configuration
	PromptSource string // the file of UserPrompt, for the source
	AppendPrompt string // --append-system-prompt
	// ProjectPrompt is the key prompt of a trusted project, and ProjectSource its
	// file. It stays the project's text.
	ProjectPrompt, ProjectSource string
	Now                          time.Time
	Platform                     string // "linux", with a version if known
	Shell                        string // "bash"
	Git                          bool   // whether Root is a Git repository
	GitBranch                    string // "" when detached or not known
	Window                       int    // of the model in tokens; 0: 200,000
	UID                          int    // of the user: whose folders are searched, besides root's
}

// Notice is something that the user should know about the prompt.
type Notice struct{ Text string }

// Build makes the system prompt. It fails only when the configuration lacks the
// folders; files that cannot be read or used give a notice. Nothing is written.
func Build(cfg Config) (protocol.Instructions, []Notice, error) {
	for _, dir := range []string{cfg.WorkDir, cfg.Root} {
		if !filepath.IsAbs(dir) {
			return protocol.Instructions{}, nil, errors.New("build the system prompt: the working directory or the workspace is not an absolute path")
		}
	}
	b := builder{cfg: cfg}
	parts := []part{
		{name: "baseline", priority: priorityBaseline, text: strings.TrimSpace(baseline),
			sources: []source{{scope: "builtin", content: strings.TrimSpace(baseline)}}},
		b.environment(),
		b.date(),
		b.user(),
		b.agents(),
		b.workspace(),
	}
	window := cfg.Window
	if window <= 0 {
		window = 200_000
	}
	cut := fit(parts, window*budgetPercent/100*bytesPerToken)
	out := protocol.Instructions{Version: Version}
	for _, c := range cut {
		b.note("The system prompt is longer than %d%% of the model's window: %s was cut%s.", budgetPercent, c.name, c.left())
		out.Cut = append(out.Cut, c.name)
	}
	var texts []string
	for _, p := range parts {
		text := p.render()
		if text == "" {
			continue
		}
		texts = append(texts, text)
		s := protocol.InstructionSection{Name: p.name, Priority: p.priority, Text: text}
		for _, src := range p.sources {
			s.Sources = append(s.Sources, protocol.InstructionSource{Path: src.path, Scope: src.scope, Priority: p.priority, Content: src.content})
		}
		out.Sections = append(out.Sections, s)
	}
	out.Text = strings.Join(texts, "\n\n")
	return out, b.notices, nil
}

// DateChange returns the note that tells a model that the date is another one than
// at prev, and false when it is the same. Both are read in the zone of now.
func DateChange(prev, now time.Time) (protocol.Item, bool) {
	was, is := day(prev.In(now.Location())), day(now)
	if was == is {
		return protocol.Item{}, false
	}
	return protocol.Item{
		Kind: protocol.ItemDateChange, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityHidden,
		Content: "The date has changed. Today is " + is + ".",
	}, true
}

// day writes a date. The time of day is left out: it would change the bytes of
// the prompt for nothing.
func day(t time.Time) string { return t.Format("Monday, 2006-01-02") }

type builder struct {
	cfg     Config
	notices []Notice
}

func (b *builder) note(format string, args ...any) {
	b.notices = append(b.notices, Notice{fmt.Sprintf(format, args...)})
}

func (b *builder) environment() part {
	lines := []string{"# Environment", "- Working directory: " + inline(b.cfg.WorkDir)}
	workspace := "- Workspace: " + inline(b.cfg.Root)
	switch {
	case b.cfg.Git && b.cfg.GitBranch != "":
		workspace += " (a Git repository, on branch " + inline(b.cfg.GitBranch) + ")"
	case b.cfg.Git:
		workspace += " (a Git repository)"
	default:
		workspace += " (not a Git repository)"
	}
	lines = append(lines, workspace)
	if b.cfg.Platform != "" {
		lines = append(lines, "- Platform: "+inline(b.cfg.Platform))
	}
	if b.cfg.Shell != "" {
		lines = append(lines, "- Shell: "+inline(b.cfg.Shell))
	}
	text := strings.Join(lines, "\n")
	return part{name: "environment", priority: priorityEnvironment, text: text, sources: []source{{scope: "session", content: text}}}
}

func (b *builder) date() part {
	text := "The session began on " + day(b.cfg.Now) + "."
	return part{name: "time", priority: priorityEnvironment, text: text, sources: []source{{scope: "session", content: text}}}
}

func (b *builder) user() part {
	p := part{name: "user", priority: priorityUser, head: "# The user's own instructions"}
	add := func(path, scope, text string) {
		if text = strings.TrimSpace(clean(text)); text != "" {
			p.sources = append(p.sources, source{path: path, scope: scope, content: text})
		}
	}
	add(b.cfg.PromptSource, "user", b.cfg.UserPrompt)
	add("", "session", b.cfg.AppendPrompt)
	return p
}
