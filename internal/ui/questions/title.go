package questions

import (
	"encoding/json"
	"fmt"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
)

// Title returns what a permission question asks, such as "Run this command?" or
// "Replace go.mod? (22 → 3 lines)".
func Title(p *protocol.PermissionRequest) string {
	var in struct {
		Command *string `json:"command"`
		Content *string `json:"content"`
	}
	_ = json.Unmarshal(p.Args, &in) // one of another form has neither
	what := display.Summary(p.ToolName, p.Args)
	switch view := protocol.ViewOf(p.ToolName); {
	case view == protocol.ViewCommand && in.Command != nil:
		return "Run this command?"
	case view == protocol.ViewChange && what != "":
		c := p.Preview
		switch {
		case c == nil:
			return "Edit " + what + "?"
		case !c.Exists:
			return fmt.Sprintf("Create %s? (%s)", what, lines(c.LinesAfter))
		case in.Content != nil:
			return fmt.Sprintf("Replace %s? (%d → %s)", what, c.LinesBefore, lines(c.LinesAfter))
		case c.Diff != "":
			added, removed := counts(c.Diff)
			return fmt.Sprintf("Edit %s? (+%d -%d)", what, added, removed)
		}
		return "Edit " + what + "?"
	}
	return "Allow " + display.Line(p.ToolName) + "?"
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// counts returns how many lines a unified diff of one file adds and removes.
func counts(diff string) (added, removed int) {
	hunks := false // before the first are the names of the file
	for l := range strings.Lines(diff) {
		switch hunks = hunks || strings.HasPrefix(l, "@@"); {
		case !hunks:
		case l[0] == '+':
			added++
		case l[0] == '-':
			removed++
		}
	}
	return added, removed
}
