package skill

import (
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// Budget of the listing: 1% of the window, at four characters a token.
const (
	budgetShare   = 100
	charsPerToken = 4
	minListed     = 20 // characters of a description; shorter ones are left out
)

const listingHead = `Skills are folders with instructions for certain tasks. When one of these fits what is asked, call Skill with its name before you begin, and follow what it says. What is marked [project] was written in files of the project, not by the user.
`

// programHead follows it where programs can be run.
const programHead = "A skill marked [program] is run with ExecuteSkill.\n"

// Listing is what the model is told of skills: a line for each, whatever the budget,
// and their descriptions as far as 1% of a window of so many tokens allows, all cut at
// the same length. Its content is empty without skills. [history.Missing] compares it
// line by line, so a line begins with "- " and the skill's name. Programs says that
// there is ExecuteSkill.
func Listing(skills []Skill, window int, programs bool) protocol.Item {
	item := protocol.Item{Kind: protocol.ItemSkillListing, Origin: protocol.OriginSkill, Visibility: protocol.VisibilityHidden}
	if len(skills) == 0 {
		return item
	}
	fronts, texts := make([]string, len(skills)), make([]string, len(skills))
	head := listingHead
	if programs {
		head += programHead
	}
	for i, s := range skills {
		fronts[i] = "- " + s.Name
		if programs && s.Entry != "" && s.State == OK {
			fronts[i] += " [program]"
		}
		if s.Project() {
			fronts[i] += " [project]"
		}
		texts[i] = promptsafe.Escape(s.Description)
	}
	item.Content, _ = lines(head, fronts, texts, window)
	return item
}

// maxArgs is how much of the arguments of a prompt a line shows, in characters.
const maxArgs = 200

// Front is what a line about a prompt of a server begins with.
func (s *Skill) Front() string {
	front := "- " + s.Name
	if s.Args != "" {
		front += " (" + promptsafe.Escape(line(s.Args, maxArgs)) + ")"
	}
	return front
}

// PromptLines returns head and a line for each of some prompts of servers, with descriptions
// as far as 1% of a window of so many tokens allows, and reports whether the lines without
// descriptions fit into that.
func PromptLines(head string, prompts []Skill, window int) (text string, fits bool) {
	fronts, texts := make([]string, len(prompts)), make([]string, len(prompts))
	for i, s := range prompts {
		fronts[i], texts[i] = s.Front(), promptsafe.Escape(line(s.Description, maxDescription))
	}
	return lines(head, fronts, texts, window)
}

// lines joins lines below head, all texts cut at the same length, and reports whether there
// is room for head and fronts.
func lines(head string, fronts, texts []string, window int) (string, bool) {
	room := window*charsPerToken/budgetShare - len(head)
	for _, front := range fronts {
		room -= utf8.RuneCountInString(front) + 1
	}
	most := evenCut(texts, room)
	var b strings.Builder
	b.WriteString(head)
	for i, front := range fronts {
		b.WriteString("\n" + front)
		if text := cut(texts[i], most); text != "" {
			b.WriteString(": " + text)
		}
	}
	return b.String(), room >= 0
}

// separator is what is between a name and a description, in characters.
const separator = 2

// evenCut returns how many characters of each text fit into room together, when all
// that are longer are cut there.
func evenCut(texts []string, room int) int {
	lengths := make([]int, 0, len(texts))
	for _, t := range texts {
		if n := utf8.RuneCountInString(t); n > 0 {
			lengths = append(lengths, n)
			room -= separator
		}
	}
	slices.Sort(lengths)
	for i, n := range lengths {
		if left := len(lengths) - i; n*left > room {
			return max(room/left, 0)
		}
		room -= n
	}
	return maxDescription * 8 // escaping makes them longer
}

func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	if most < minListed {
		return ""
	}
	return string([]rune(text)[:most-1]) + "…"
}
