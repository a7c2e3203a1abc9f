package host

import (
	"cmp"
	"slices"
	"strings"

	"scorel/internal/model"
	"scorel/protocol"
)

// Overrides are settings above all files: the caller's for all turns of a host, and
// over those the ones of a single message.
type Overrides struct {
	Model              string
	Thinking           string
	Mode               string
	Allow, Deny        []string
	Preset             string // or a list of tools
	AdditionalDirs     []string
	AppendSystemPrompt string
	MaxSteps           int
	MaxBudgetUSD       float64
	Sandbox            string // a mode of the sandbox, "" for the configuration's
	NoNetwork          bool   // commands reach no network
	// Wide are folders that are allowed as workspaces though they are the home or /.
	Wide []string
}

// toolList gives the names of a list of tools, nil for a preset.
func (o Overrides) toolList() (names []string) {
	switch o.Preset {
	case "", "coding", "readonly", "all", "none":
		return nil
	}
	for name := range strings.SplitSeq(o.Preset, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// with gives the settings of a turn whose message has options: each that is set
// replaces the caller's, and rules and folders come in addition. Deny rules beat
// allow rules whoever gives them.
func (o Overrides) with(t *protocol.TurnOptions) (Overrides, error) {
	if t == nil {
		return o, nil
	}
	if t.MaxSteps < 0 || t.MaxBudgetUSD < 0 {
		return o, protocol.Errorf(protocol.CodeInvalidRequest, "maxSteps and maxBudgetUSD are limits above 0; leave them out for the configuration's.")
	}
	if t.Thinking != "" && !model.ThinkingLevel(t.Thinking).Valid() {
		return o, protocol.Errorf(protocol.CodeInvalidRequest, "There is no thinking level %.40q; it can be %s.", t.Thinking, protocol.ThinkingLevelWords())
	}
	o.Model, o.Thinking, o.Mode = cmp.Or(t.Model, o.Model), cmp.Or(t.Thinking, o.Thinking), cmp.Or(t.Mode, o.Mode)
	o.Preset, o.Sandbox = cmp.Or(t.Tools, o.Preset), cmp.Or(t.Sandbox, o.Sandbox)
	o.MaxSteps, o.MaxBudgetUSD = cmp.Or(t.MaxSteps, o.MaxSteps), cmp.Or(t.MaxBudgetUSD, o.MaxBudgetUSD)
	o.Allow, o.Deny = slices.Concat(o.Allow, t.Allow), slices.Concat(o.Deny, t.Deny)
	o.AdditionalDirs = slices.Concat(o.AdditionalDirs, t.AdditionalDirs)
	o.NoNetwork = o.NoNetwork || t.NoNetwork
	if t.Workspace != "" {
		o.Wide = append(slices.Clone(o.Wide), t.Workspace)
	}
	return o, nil
}
