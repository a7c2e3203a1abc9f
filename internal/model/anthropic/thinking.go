package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"scorel/internal/model"
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

// think sets how much the model thinks, and gives the beta features that this
// takes.
func (m *Model) think(req model.Request, p *sdk.MessageNewParams) (betas []string) {
	if len(m.info.Thinking) == 0 {
		return nil
	}
	level := m.info.Level(req.Thinking)
	if level == model.ThinkingOff {
		if word, ok := m.info.Compat.Levels[model.ThinkingOff]; ok && word == "" {
			level = m.info.Thinking[0] // this model cannot leave it
		}
	}
	if m.info.Compat.Adaptive || onlyAdaptive(m.info.ID) {
		return m.thinkByEffort(level, p)
	}
	n := min(budget(level), int(p.MaxTokens)-leastBudget)
	if level == model.ThinkingOff || n < leastBudget || !resumable(p.Messages) {
		return nil
	}
	p.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(n))
	if m.info.Provider == "anthropic" && len(p.Tools) > 0 {
		betas = append(betas, betaInterleaved)
	}
	return betas
}

// onlyAdaptive names the models for which the SDK writes a warning to stderr, over
// whatever is on the screen, when it is given a budget.
func onlyAdaptive(id string) bool { return id == "claude-opus-4-6" || id == "claude-mythos-preview" }

func (m *Model) thinkByEffort(level model.ThinkingLevel, p *sdk.MessageNewParams) (betas []string) {
	if level == model.ThinkingOff {
		p.Thinking = sdk.ThinkingConfigParamUnion{OfDisabled: &sdk.ThinkingConfigDisabledParam{}}
		return nil
	}
	t := &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	if m.info.Compat.BlockBinding {
		t.SetExtraFields(map[string]any{"block_binding": map[string]string{"prefix_mismatch_behavior": "drop_block"}})
		betas = append(betas, betaBinding)
	}
	p.Thinking = sdk.ThinkingConfigParamUnion{OfAdaptive: t}
	effort := m.info.Compat.Levels[level]
	if effort == "" {
		effort = string(level)
	}
	if effort == string(model.ThinkingMinimal) {
		effort = string(model.ThinkingLow) // the lowest that the API knows
	}
	p.OutputConfig = sdk.OutputConfigParam{Effort: sdk.OutputConfigEffort(effort)}
	return betas
}

// resumable says whether thinking with a budget may be on: an assistant message
// with calls that the request ends on must then begin with thinking, which it
// does not when another model wrote it.
func resumable(messages []sdk.MessageParam) bool {
	n := len(messages)
	if n < 2 || len(messages[n-1].Content) == 0 || messages[n-1].Content[0].OfToolResult == nil {
		return true
	}
	last := messages[n-2].Content
	return len(last) > 0 && (last[0].OfThinking != nil || last[0].OfRedactedThinking != nil)
}
