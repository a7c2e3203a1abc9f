package tool

import (
	"fmt"
	"strings"
)

const (
	nearestLines = 50_000 // of a text are searched
	nearestOld   = 200    // of an old string are compared
	nearestShown = 12     // lines are shown
	nearestWidth = 300    // bytes of a shown line
)

// nearest says where text is most like old, for an old string that was not found.
func nearest(text, old string) string {
	if numbered(old) {
		return " It begins with line numbers: these are shown by Read and are not part of the file."
	}
	want := strings.Split(strings.Trim(old, "\r\n"), "\n")
	want = want[:min(len(want), nearestOld)]
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
	}
	lines := strings.SplitN(text, "\n", nearestLines+1)
	lines = lines[:min(len(lines), nearestLines)]
	// Each line that is in both votes for the place where old would begin.
	votes := make(map[int]int)
	index := make(map[string][]int)
	for j, w := range want {
		if w != "" && w != "{" && w != "}" {
			index[w] = append(index[w], j)
		}
	}
	best, score := -1, 0
	for i, l := range lines {
		for _, j := range index[strings.TrimSpace(l)] {
			at := i - j
			votes[at]++
			if votes[at] > score || votes[at] == score && at < best {
				best, score = at, votes[at]
			}
		}
	}
	if score == 0 {
		best = likest(lines, want)
	}
	if best < 0 && score == 0 {
		return ""
	}
	best = max(best, 0)
	end := min(best+min(len(want), nearestShown), len(lines))
	var s strings.Builder
	s.WriteString(" The nearest text is")
	if alike(lines[best:], want) {
		s.WriteString(" (it differs only in whitespace)")
	}
	s.WriteByte(':')
	for i := best; i < end; i++ {
		l := strings.TrimSuffix(lines[i], "\r")
		if len(l) > nearestWidth {
			l = strings.ToValidUTF8(l[:nearestWidth], "") + "…"
		}
		fmt.Fprintf(&s, "\n%6d\t%s", i+1, l)
	}
	return s.String()
}

// alike reports whether the lines begin with the wanted ones but for white space.
func alike(lines, want []string) bool {
	if len(lines) < len(want) {
		return false
	}
	for i, w := range want {
		if strings.TrimSpace(lines[i]) != w {
			return false
		}
	}
	return true
}

// likest returns the line that shares most pairs of letters with the longest line
// wanted, less its place among the wanted ones; -1 when none shares half.
func likest(lines, want []string) int {
	longest := 0
	for j, w := range want {
		if len(w) > len(want[longest]) {
			longest = j
		}
	}
	goal := pairs(want[longest])
	if len(goal) == 0 {
		return -1
	}
	best, most := -1, 0.5
	for i, l := range lines {
		have := pairs(strings.TrimSpace(l))
		common := 0
		for p := range have {
			if goal[p] {
				common++
			}
		}
		if like := 2 * float64(common) / float64(len(have)+len(goal)); like > most {
			best, most = i, like
		}
	}
	if best < 0 {
		return -1
	}
	return max(best-longest, 0)
}

func pairs(s string) map[[2]byte]bool {
	s = s[:min(len(s), nearestWidth)]
	set := make(map[[2]byte]bool, len(s))
	for i := 0; i+1 < len(s); i++ {
		set[[2]byte{s[i], s[i+1]}] = true
	}
	return set
}

// numbered reports whether each line begins with a number and a tab, as Read shows
// them.
func numbered(s string) bool {
	for l := range strings.SplitSeq(strings.Trim(s, "\n"), "\n") {
		number, _, ok := strings.Cut(l, "\t")
		number = strings.TrimSpace(number)
		if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
			return false
		}
	}
	return true
}
