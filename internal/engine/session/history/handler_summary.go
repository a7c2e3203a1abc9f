package history

import (
	"strings"

	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

func compactToLLM(ev protocol.Event, w *answer) action {
	body, ok := ev.Body.(*protocol.Compact)
	if !ok {
		return skip
	}
	w.compact = body
	return barrier
}

func branchSummaryToLLM(ev protocol.Event, w *answer) action {
	body, ok := ev.Body.(*protocol.BranchSummary)
	if !ok {
		return skip
	}
	w.kind = kindBranch
	m := protocol.UserText("Another branch of this conversation was left. What happened there:\n\n" +
		promptsafe.Text("summary", "", strings.TrimSpace(body.Summary)))
	w.message = &m
	return include
}

// maxNamedFiles is how many files of each kind a summary message names.
const maxNamedFiles = 50

// summaryMessage is what a compact event says to the model.
func summaryMessage(summary string, details *protocol.CompactDetails) *protocol.Message {
	var s strings.Builder
	s.WriteString("The conversation up to here was replaced by this summary:\n\n")
	s.WriteString(promptsafe.Text("summary", "", strings.TrimSpace(summary)))
	if details != nil {
		writeFiles(&s, "read-files", details.ReadFiles)
		writeFiles(&s, "modified-files", details.ModifiedFiles)
	}
	m := protocol.UserText(s.String())
	return &m
}

func writeFiles(s *strings.Builder, tag string, files []string) {
	if len(files) == 0 {
		return
	}
	s.WriteString("\n\n<" + tag + ">\n")
	for i, f := range files {
		if i == maxNamedFiles {
			s.WriteString("…\n")
			break
		}
		s.WriteString(f + "\n")
	}
	s.WriteString("</" + tag + ">")
}
