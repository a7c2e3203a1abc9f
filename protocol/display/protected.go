package display

import (
	"fmt"
	"strings"

	"scorel/protocol"
)

// protected shows what a command did to protected files: every line is one file.
func protected(n protocol.ProtectedNotice) Item {
	item := Item{Kind: Notice, Status: Failed, ToolCallID: Line(n.ToolCallID)}
	who := "A command"
	if n.Agent != "" {
		who = "A command of the agent " + Line(n.Agent)
	}
	var lines []string
	for _, a := range n.SetAside {
		line := fmt.Sprintf("%s was moved to %s, because Git would have run programs or used another repository: %s", Line(a.Path), Line(a.To), Line(a.Why))
		if a.To == "" {
			line = fmt.Sprintf("%s could not be moved (%s). Do not run git in this repository until you have removed it: %s", Line(a.Path), Line(a.Error), Line(a.Why))
		}
		lines = append(lines, line)
	}
	for _, path := range n.Changed {
		lines = append(lines, Line(path)+" was changed")
	}
	if n.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n.More))
	}
	switch {
	case len(n.SetAside) > 0:
		item.Title = who + " added files to the repository that would have made Git run programs"
	default:
		item.Title = who + " changed protected files, which other programs run or trust later"
	}
	item.Text = strings.Join(lines, "\n")
	return item
}
