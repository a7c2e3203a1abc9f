package protocol

import "strings"

// What follows reads results of versions that said some things only in text that is meant
// for a model. Nothing else does: results of this version have them in their details.

// oldTextForPeople is [Message.TextForPeople] for results of versions that did not say
// what is for the model.
func oldTextForPeople(view ToolView, text string, d ToolDetails) string {
	switch view {
	case ViewCommand:
		if i := strings.LastIndex(text, "[exit code "); i >= 0 && d.ExitCode != nil && !strings.Contains(text[i:], "\n") {
			return text[:i]
		}
	case ViewAgent:
		text = withoutTag(text)
		if i := strings.LastIndex(text, "[agent "); i >= 0 && strings.HasSuffix(text, "]") && !strings.Contains(text[i:], "\n") {
			return text[:i]
		}
	case ViewPage, ViewResults:
		return withoutTag(text)
	case ViewFiles, ViewMatches:
		var found strings.Builder
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "[") {
				found.WriteString(line)
			}
		}
		return found.String()
	}
	return text
}

// withoutTag returns a text without the tag around it that says to a model where it is from.
func withoutTag(text string) string {
	text = strings.TrimSpace(text)
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "<") && strings.HasSuffix(first, ">") {
		tag := strings.Trim(first, "<>")
		tag, _, _ = strings.Cut(tag, " ")
		if i := strings.LastIndex(rest, "\n</"+tag+">"); i >= 0 {
			return rest[:i]
		}
	}
	return text
}

// oldOutcome reads why a call did not come to its end from the text of its error.
func oldOutcome(text string) ToolOutcome {
	switch {
	case strings.HasPrefix(text, "Cancelled by user"):
		return OutcomeCancelled
	case strings.HasPrefix(text, "Not run:"):
		return OutcomeNotRun
	}
	return ""
}

// maxOldLinks bounds the results of a search that are read from a text.
const maxOldLinks = 20

// oldLinks reads the results of a search of the web from a numbered list: a title, and in
// the next line its address.
func oldLinks(text string) (links []Link) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		number, title, ok := strings.Cut(l, ". ")
		if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		link := Link{Title: title}
		if i+1 < len(lines) {
			link.URL = strings.TrimSpace(lines[i+1])
		}
		if links = append(links, link); len(links) == maxOldLinks {
			break
		}
	}
	return links
}
