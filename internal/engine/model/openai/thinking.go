package openai

import (
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// thinking returns how much the model thinks, in the server's form. What is zero is not
// said.
type thinking struct {
	effort string            // reasoning_effort
	field  string            // what some servers have besides or instead
	value  func(*httpx.Body) // of field
}

// think returns how much the model thinks, by reasoning_effort or by the field that
// [model.Compat.ThinkingFormat] names.
func (m *Model) think(req model.Request) (t thinking) {
	if len(m.info.Thinking) == 0 {
		return t
	}
	c := m.info.Compat
	level := m.info.Level(req.Thinking)
	if c.NoEffortWithTools && len(req.Tools) > 0 {
		level = model.ThinkingOff
	}
	on := level != model.ThinkingOff
	effort, known := c.Levels[level]
	if on && effort == "" {
		effort = string(level)
	}
	if !on && known && effort == "" {
		return t // it cannot be turned off
	}
	switch c.ThinkingFormat {
	case "none":
		return t
	case "openrouter":
		if !on && effort == "" {
			effort = "none"
		}
		return thinking{field: "reasoning", value: object("effort", func(to *httpx.Body) { to.Text(effort) })}
	case "ant-ling":
		if !on {
			return t
		}
		return thinking{field: "reasoning", value: object("effort", func(to *httpx.Body) { to.Text(effort) })}
	case "deepseek", "zai":
		word := "disabled"
		if on {
			word = "enabled"
		}
		t.field, t.value = "thinking", object("type", func(to *httpx.Body) { to.Text(word) })
	case "qwen":
		t.field, t.value = "enable_thinking", func(to *httpx.Body) { to.Bool(on) }
	case "together":
		t.field, t.value = "reasoning", object("enabled", func(to *httpx.Body) { to.Bool(on) })
	}
	if !c.NoEffort && (on || t.field == "") {
		t.effort = effort
	}
	return t
}

// object writes an object of one member.
func object(key string, value func(*httpx.Body)) func(*httpx.Body) {
	return func(to *httpx.Body) {
		to.Object()
		to.Key(key)
		value(to)
		to.EndObject()
	}
}
