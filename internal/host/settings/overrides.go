package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/host/failure"
	"scorel/internal/platform/sandbox"
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
	// Limits of a turn; 0 is none. A tighter one of the configuration counts instead.
	MaxBudgetUSD float64
	MaxTokens    int
	MaxMinutes   float64
	Sandbox      string // a mode of the sandbox, "" for the configuration's
	NoNetwork    bool   // commands reach no network
	// MCPConfig are texts of MCP servers, and with StrictMCP all that count.
	MCPConfig []string
	StrictMCP bool
	// Channels are MCP servers that may push into the session, by the names that people give.
	Channels []string
	// Wide are folders that are allowed as workspaces though they are the home or /.
	Wide []string
}

// ToolList returns the names of a list of tools, nil for a preset.
func (o Overrides) ToolList() (names []string) {
	switch o.Preset {
	case "", "coding", "readonly", "all", "none":
		return nil
	}
	for name := range strings.SplitSeq(o.Preset, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// With returns the settings of a turn whose message has options: each that is set
// replaces the caller's, of cost, tokens and time the lower limit counts, and rules and
// folders come in addition. Deny rules beat
// allow rules whoever gives them.
func (o Overrides) With(t *protocol.TurnOptions) (Overrides, error) {
	if t == nil {
		return o, nil
	}
	if t.MaxSteps < 0 || t.MaxBudgetUSD < 0 || t.MaxTokens < 0 || t.MaxMinutes < 0 {
		return o, protocol.Errorf(protocol.CodeInvalidRequest, "maxSteps, maxBudgetUSD, maxTokens and maxMinutes are limits above 0; leave them out for the configuration's.")
	}
	if t.Thinking != "" && !model.ThinkingLevel(t.Thinking).Valid() {
		return o, protocol.About("options.thinking", "", protocol.CodeInvalidRequest, "There is no thinking level %.40q; it can be %s.", t.Thinking, protocol.ThinkingLevelWords())
	}
	if _, err := permission.ParseMode(t.Mode); err != nil {
		return o, protocol.About("options.mode", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if t.Sandbox != "" {
		if _, err := sandbox.ParseMode(t.Sandbox); err != nil {
			return o, protocol.About("options.sandbox", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
		}
	}
	o.Model, o.Thinking, o.Mode = cmp.Or(t.Model, o.Model), cmp.Or(t.Thinking, o.Thinking), cmp.Or(t.Mode, o.Mode)
	o.Preset, o.Sandbox = cmp.Or(t.Tools, o.Preset), cmp.Or(t.Sandbox, o.Sandbox)
	o.MaxSteps = cmp.Or(t.MaxSteps, o.MaxSteps)
	o.MaxBudgetUSD, o.MaxTokens, o.MaxMinutes = runtime.Lower(o.MaxBudgetUSD, t.MaxBudgetUSD), runtime.Lower(o.MaxTokens, t.MaxTokens), runtime.Lower(o.MaxMinutes, t.MaxMinutes)
	o.Allow, o.Deny = slices.Concat(o.Allow, t.Allow), slices.Concat(o.Deny, t.Deny)
	o.AdditionalDirs = slices.Concat(o.AdditionalDirs, t.AdditionalDirs)
	o.NoNetwork = o.NoNetwork || t.NoNetwork
	o.MCPConfig, o.StrictMCP = slices.Concat(o.MCPConfig, t.MCPConfig), o.StrictMCP || t.StrictMCP
	for i, name := range t.Channels {
		if _, err := mcp.ParseChannel(name); err != nil {
			return o, protocol.About(fmt.Sprintf("options.channels[%d]", i), "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
		}
	}
	o.Channels = slices.Concat(o.Channels, t.Channels)
	if t.Workspace != nil {
		o.Wide = append(slices.Clone(o.Wide), *t.Workspace)
	}
	return o, nil
}

// InOptions names the option of a message that an error is about, where it was that one
// which was set and the error names no field, or the one of the same name elsewhere.
func InOptions(field string, set bool, err error) error {
	var e *protocol.Error
	if !set || !errors.As(err, &e) {
		return err
	}
	var d protocol.FieldDetails
	if _ = json.Unmarshal(e.Details, &d); d.Field != "" && "options."+d.Field != field {
		return err
	}
	return protocol.About(field, d.Reason, e.Code, "%s", e.Message)
}

// CheckRules reads the rules of a message's options one by one, so that an error names
// which it is.
func CheckRules(t *protocol.TurnOptions, home, root string) error {
	if t == nil {
		return nil
	}
	for field, rules := range map[string][]string{"allow": t.Allow, "deny": t.Deny} {
		for i, rule := range rules {
			if _, err := permission.Compile(permission.Config{Home: home, Root: root, Layers: []permission.Layer{{Allow: []string{rule}}}}); err != nil {
				return protocol.About(fmt.Sprintf("options.%s[%d]", field, i), "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
			}
		}
	}
	return nil
}
