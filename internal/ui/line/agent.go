package line

import (
	"encoding/json"

	"scorel/protocol"
	"scorel/protocol/display"
)

// agentStyle returns how the name of an agent of a color is set off, plain for none and
// for one that is not known. A screen without colours leaves it out.
func agentStyle(color string) style {
	switch color {
	case "red":
		return "\x1b[31m"
	case "orange":
		return "\x1b[38;5;208m"
	case "yellow":
		return "\x1b[33m"
	case "green":
		return "\x1b[32m"
	case "cyan":
		return "\x1b[36m"
	case "blue":
		return "\x1b[34m"
	case "purple":
		return "\x1b[35m"
	case "pink":
		return "\x1b[38;5;211m"
	}
	return plainStyle
}

// agentName shows which agent gave a result, in its color, where it has one.
func (v *view) agentName(m protocol.Message) {
	var d protocol.ToolDetails
	if len(m.Details) == 0 || json.Unmarshal(m.Details, &d) != nil || d.Agent == nil {
		return
	}
	if st := agentStyle(d.Agent.Color); st != plainStyle {
		v.screen.line(st, "  ● "+display.Line(d.Agent.Agent))
	}
}
