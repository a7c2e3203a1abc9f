package openai

import (
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"scorel/internal/model"
)

// think sets how much the model thinks, in the server's form: reasoning_effort,
// or the field that [model.Compat.ThinkingFormat] names, as an option.
func (m *Model) think(req model.Request, p *sdk.ChatCompletionNewParams) []option.RequestOption {
	if len(m.info.Thinking) == 0 {
		return nil
	}
	c := m.info.Compat
	level := m.info.Level(req.Thinking)
	if c.NoEffortWithTools && len(p.Tools) > 0 {
		level = model.ThinkingOff
	}
	on := level != model.ThinkingOff
	effort, known := c.Levels[level]
	if on && effort == "" {
		effort = string(level)
	}
	if !on && known && effort == "" {
		return nil // it cannot be turned off
	}
	var field string
	var value any
	switch c.ThinkingFormat {
	case "none":
		return nil
	case "openrouter":
		if !on && effort == "" {
			effort = "none"
		}
		return []option.RequestOption{option.WithJSONSet("reasoning", map[string]string{"effort": effort})}
	case "ant-ling":
		if !on {
			return nil
		}
		return []option.RequestOption{option.WithJSONSet("reasoning", map[string]string{"effort": effort})}
	case "deepseek", "zai":
		field, value = "thinking", map[string]string{"type": "disabled"}
		if on {
			value = map[string]string{"type": "enabled"}
		}
	case "qwen":
		field, value = "enable_thinking", on
	case "together":
		field, value = "reasoning", map[string]bool{"enabled": on}
	}
	if effort != "" && !c.NoEffort && (on || field == "") {
		p.ReasoningEffort = shared.ReasoningEffort(effort)
	}
	if field == "" {
		return nil
	}
	return []option.RequestOption{option.WithJSONSet(field, value)}
}
