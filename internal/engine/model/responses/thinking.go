package responses

import (
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// reasoning returns how much the model thinks and that it tells a summary of it.
type reasoning struct {
	effort  string
	summary string
}

func (r *reasoning) write(to *httpx.Body) {
	if r == nil {
		return
	}
	to.Key("reasoning")
	to.Object()
	to.FieldIf("effort", r.effort)
	to.FieldIf("summary", r.summary)
	to.EndObject()
}

// told reports whether a summary is asked for.
func (r *reasoning) told() bool { return r != nil && r.summary != "" }

// untold is r without its summary; nil when nothing is left.
func (r *reasoning) untold() *reasoning {
	if r == nil || r.effort == "" {
		return nil
	}
	return &reasoning{effort: r.effort}
}

// reasoning returns the level in the server's word. Off is the word for it; where
// the model cannot leave it, the least that it has; where no word is known, what
// the server does by itself.
func (m *Model) reasoning(req model.Request) *reasoning {
	c := m.info.Compat
	if len(m.info.Thinking) == 0 || c.ThinkingFormat == "none" {
		return nil
	}
	level := m.info.Level(req.Thinking)
	word, known := c.Levels[level]
	if level == model.ThinkingOff {
		switch {
		case !known, word != "" && c.NoEffort:
			return nil
		case word != "":
			return &reasoning{effort: word}
		}
		level = m.info.Thinking[0]
		word = c.Levels[level]
	}
	if word == "" {
		word = string(level)
	}
	if c.NoEffort {
		word = ""
	}
	return &reasoning{effort: word, summary: "auto"}
}
