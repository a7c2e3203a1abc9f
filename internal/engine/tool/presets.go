package tool

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Preset is a set of tools that a session begins with.
type Preset string

// The presets. Coding and All have every tool; None has those that are named.
const (
	ReadOnly   Preset = "readonly" // tools that change nothing and send nothing outside
	Coding     Preset = "coding"
	Everything Preset = "all"
	None       Preset = "none"
)

// Need is what a session must have for a tool to be of use.
type Need string

// The needs.
const (
	NeedsSearch    Need = "search"    // a search service
	NeedsNotes     Need = "notes"     // daily notes that are kept
	NeedsSkills    Need = "skills"    // a skill
	NeedsPrograms  Need = "programs"  // a skill with a program
	NeedsSchedules Need = "schedules" // a host that stays, and a session of a person
	// NeedsManySkills is more than [ManySkills] skills.
	NeedsManySkills Need = "many skills"
	NeedsPlan       Need = "plan"      // plan mode: such a tool is in no preset and cannot be named
	NeedsExtras     Need = "extras"    // tools that the model is not sent: as with NeedsPlan
	NeedsProactive  Need = "proactive" // proactive mode: as with NeedsPlan
)

// All returns every built-in tool, sorted by name.
func All() []Tool { return slices.Clone(all()) }

var all = sync.OnceValue(func() []Tool {
	all := builtin()
	slices.SortFunc(all, func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return all
})

// Named returns the tools that can be named in a list of tools, sorted by name: all but
// those that a mode or the search for tools brings by itself.
func Named() []Tool {
	return slices.DeleteFunc(All(), func(t Tool) bool {
		needs := t.Spec().Needs
		return needs == NeedsPlan || needs == NeedsExtras || needs == NeedsProactive
	})
}

// Names returns the names of tools.
func Names(tools []Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Spec().Name
	}
	return names
}

// Select returns the tools of a preset together with those that allow names, sorted by
// name and each once; "" is [None]. A name that nobody has is an error that lists the
// names.
func Select(preset string, allow []string) ([]Tool, error) {
	var want func(Spec) bool
	switch Preset(preset) {
	case Coding, Everything:
		want = func(Spec) bool { return true }
	case ReadOnly:
		want = func(s Spec) bool { return s.Preset == ReadOnly }
	case None, "":
		want = func(Spec) bool { return false }
	default:
		return nil, fmt.Errorf("%q is not a tool preset: there are coding, readonly, all and none", preset)
	}
	all := Named()
	names := Names(all)
	for _, name := range allow {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no tool %q: there are %s", name, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(t Tool) bool { return !want(t.Spec()) && !slices.Contains(allow, t.Spec().Name) }), nil
}

// Shell returns the tool that runs commands.
func Shell() Tool { return bashTool{} }

// Reader returns the tool that reads files.
func Reader() Tool { return readTool{} }

// Searching returns the names of the tools that find and read files.
func Searching() []string {
	var names []string
	for _, t := range All() {
		if s := t.Spec(); s.Kind == readInfo.Kind {
			names = append(names, s.Name)
		}
	}
	return names
}
