package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// maxPrograms is how many programs the reason of a question names beside the command that it
// quotes: more is not read.
const maxPrograms = 5

// lack is a command of a line that no rule allows, and why, as a sentence.
type lack struct {
	step shellparse.Step
	why  string
}

// lacking is the reason to ask for a line with such commands, of which it has at least one: the
// sentence about the one that a person has to know of first, and then how many others there are
// and what they run. So nothing hides behind many harmless commands.
func lacking(lacks []lack) string {
	count := map[string]int{}
	for _, l := range lacks {
		count[l.program()]++
	}
	order := func(a, b lack) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(count[a.program()], count[b.program()]))
	}
	lacks = slices.Clone(lacks)
	slices.SortStableFunc(lacks, order)
	others := lacks[1:]
	if len(others) == 0 {
		return lacks[0].why
	}
	count[lacks[0].program()]--
	var programs []string
	for _, l := range others {
		name := l.program()
		switch n := count[name]; {
		case n == 0: // it is there
			continue
		case n > 1:
			programs = append(programs, fmt.Sprintf("%s (%d times)", brief(name), n))
		default:
			programs = append(programs, brief(l.step.Text()))
		}
		count[name] = 0
	}
	if n := len(programs) - maxPrograms; n > 0 {
		programs = append(programs[:maxPrograms], "and more programs")
	}
	need := fmt.Sprintf("%d more commands need", len(others))
	if len(others) == 1 {
		need = "1 more command needs"
	}
	return fmt.Sprintf("%s %s permission: %s.", lacks[0].why, need, strings.Join(programs, ", "))
}

// rank is lower for what matters more: what writes, removes or redirects comes first, what only
// prints or reads comes last.
func (l lack) rank() int {
	switch words := l.step.Words; {
	case len(words) == 0, len(l.step.Redirects) > 0, writesOperands(words):
		return 0
	case namesNoFiles(words[0].Text), leavesOperands(words):
		return 2
	}
	return 1
}

// program is what the command runs.
func (l lack) program() string {
	if len(l.step.Words) > 0 {
		return l.step.Words[0].Text
	}
	return l.step.Text()
}

// brief is the beginning of a text that stands in a list: its first line, without what would
// look like the end of a quotation.
func brief(text string) string {
	const most = 40 // characters
	cut := len(text)
	if i := strings.IndexAny(text, "`\r\n\u0085\u2028\u2029"); i >= 0 {
		cut = i
	}
	if r := []rune(text[:cut]); len(r) > most {
		cut = len(string(r[:most]))
	}
	if cut < len(text) {
		return text[:cut] + "…"
	}
	return text
}
