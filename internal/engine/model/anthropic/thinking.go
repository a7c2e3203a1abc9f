package anthropic

import (
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// Names of beta features
// (https://platform.claude.com/docs/en/api/beta-headers).
const (
	betaInterleaved = "interleaved-thinking-2025-05-14"      // thinking between calls
	betaBinding     = "thinking-binding-controls-2026-08-01" // thinking.block_binding
)

// leastBudget is the smallest budget that the API takes, and what is left of the
// output limit for the answer itself.
const leastBudget = 1024

// budget is the thinking budget of a level, in tokens.
func budget(l model.ThinkingLevel) int {
	switch l {
	case model.ThinkingMinimal:
		return leastBudget
	case model.ThinkingLow:
		return 4_096
	case model.ThinkingMedium:
		return 10_240
	case model.ThinkingHigh:
		return 20_480
	}
	return 32_000
}

// thinking returns how much the model thinks; zero says nothing of it.
type thinking struct {
	kind   string // enabled, adaptive or disabled
	budget int    // tokens, of enabled
	effort string // of adaptive
	bound  bool   // the server drops thinking that does not fit its prefix
}

// think returns how much the model thinks, and which beta features that takes.
func (m *Model) think(req model.Request, maxTokens int, messages []message) (t thinking, betas []string) {
	if len(m.info.Thinking) == 0 {
		return t, nil
	}
	level := m.info.Level(req.Thinking)
	if level == model.ThinkingOff {
		if word, ok := m.info.Compat.Levels[model.ThinkingOff]; ok && word == "" {
			level = m.info.Thinking[0] // this model cannot leave it
		}
	}
	if m.info.Compat.Adaptive || onlyAdaptive(m.info.ID) {
		return m.thinkByEffort(level)
	}
	n := min(budget(level), maxTokens-leastBudget)
	if level == model.ThinkingOff || n < leastBudget || !resumable(messages) {
		return t, nil
	}
	if m.info.Provider == "anthropic" && len(req.Tools) > 0 {
		betas = append(betas, betaInterleaved)
	}
	return thinking{kind: "enabled", budget: n}, betas
}

// onlyAdaptive names the models for which the vendor calls budgets deprecated.
func onlyAdaptive(id string) bool { return id == "claude-opus-4-6" || id == "claude-mythos-preview" }

func (m *Model) thinkByEffort(level model.ThinkingLevel) (t thinking, betas []string) {
	if level == model.ThinkingOff {
		return thinking{kind: "disabled"}, nil
	}
	t = thinking{kind: "adaptive", effort: m.info.Compat.Levels[level], bound: m.info.Compat.BlockBinding}
	if t.bound {
		betas = append(betas, betaBinding)
	}
	if t.effort == "" {
		t.effort = string(level)
	}
	if t.effort == string(model.ThinkingMinimal) {
		t.effort = string(model.ThinkingLow) // the lowest that the API knows
	}
	return t, betas
}

// write writes the member of a request that says how the model thinks. How hard it does
// is in output_config.
func (t thinking) write(to *httpx.Body) {
	if t.kind == "" {
		return
	}
	to.Key("thinking")
	to.Object()
	switch t.kind {
	case "enabled":
		to.Key("budget_tokens")
		to.Int(t.budget)
	case "adaptive":
		to.Field("display", "summarized")
	}
	to.Field("type", t.kind)
	if t.bound {
		to.Key("block_binding")
		to.Object()
		to.Field("prefix_mismatch_behavior", "drop_block")
		to.EndObject()
	}
	to.EndObject()
}

// resumable reports whether thinking with a budget may be on: an assistant message
// with calls that the request ends on must then begin with thinking, which it
// does not when another model wrote it.
func resumable(messages []message) bool {
	n := len(messages)
	if n < 2 || messages[n-1].parts[0].result == nil {
		return true
	}
	before := messages[n-2].parts[0]
	return before.result == nil && before.from.Type == protocol.BlockThinking
}
