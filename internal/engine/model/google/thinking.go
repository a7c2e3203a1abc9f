package google

import (
	"strconv"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// family is what decides how a model is asked to think and what it takes. Only
// the name tells the families apart.
type family int

const (
	// current: Gemini 3 and later, and names that say nothing. Thinking goes by
	// level, signatures of calls are demanded, results hold images.
	current family = iota
	// budgeted: Gemini 2.5 and before. Thinking goes by budget.
	budgeted
	// gemma: thinking goes by level; no signatures, no images in results.
	gemma
)

func familyOf(id string) family {
	id = strings.ToLower(id)
	if strings.Contains(id, "gemma") {
		return gemma
	}
	_, version, _ := strings.Cut(id, "gemini-")
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(version)
	}
	if n, err := strconv.Atoi(version[:digits]); err == nil && n < 3 {
		return budgeted
	}
	return current
}

// thinking returns how much the model thinks: by level, or without one by budget. See
// https://ai.google.dev/gemini-api/docs/thinking.
type thinking struct {
	told   bool   // what it thinks is told
	level  string // in the API's words
	budget int    // tokens
}

// write writes the member of a request's generationConfig.
func (t *thinking) write(to *httpx.Body) {
	if t == nil {
		return
	}
	to.Key("thinkingConfig")
	to.Object()
	if t.told {
		to.Key("includeThoughts")
		to.Bool(true)
	}
	if t.level == "" {
		to.Key("thinkingBudget")
		to.Int(t.budget)
	}
	to.FieldIf("thinkingLevel", t.level)
	to.EndObject()
}

// think returns how much the model thinks; nil for one that does not.
func (m *Model) think(req model.Request, maxTokens int) *thinking {
	if len(m.info.Thinking) == 0 {
		return nil
	}
	level := m.info.Level(req.Thinking)
	on := level != model.ThinkingOff
	if m.family == budgeted {
		return &thinking{told: on, budget: m.budget(level, maxTokens)}
	}
	if !on && m.info.Compat.Levels[model.ThinkingOff] == "" {
		level = m.info.Thinking[0] // from Gemini 3 on no model can leave it
	}
	word := m.info.Compat.Levels[level]
	switch {
	case word != "":
	case level == model.ThinkingXHigh || level == model.ThinkingMax:
		word = "high" // the highest that the API knows
	default:
		word = string(level)
	}
	return &thinking{told: on, level: strings.ToUpper(word)}
}

// Bounds of thinking budgets, in tokens. Pro models cannot leave thinking; of the
// others Flash-Lite has the highest least and the lowest most.
const (
	leastBudgetPro = 128
	leastBudget    = 512
	mostBudget     = 24_576
	leastAnswer    = 1_024 // is left of the output limit for what is not thinking
)

// budget is the thinking budget of a level: it counts against the output limit.
func (m *Model) budget(level model.ThinkingLevel, maxTokens int) int {
	n := 0
	switch level {
	case model.ThinkingOff:
	case model.ThinkingMinimal:
		n = 1_024
	case model.ThinkingLow:
		n = 4_096
	case model.ThinkingMedium:
		n = 10_240
	case model.ThinkingHigh:
		n = 20_480
	default:
		n = mostBudget
	}
	if maxTokens > 0 {
		n = min(n, maxTokens-leastAnswer)
	}
	if strings.Contains(m.info.ID, "-pro") {
		return max(n, leastBudgetPro)
	}
	if n < leastBudget {
		return 0
	}
	return n
}
