package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// treeRoots returns what a command reads with all that is below: grep -r, rg, cp -r and
// others of the kind. Skips says that hidden files are left out.
func treeRoots(words []shellparse.Word) (roots []string, skips bool) {
	name := path.Base(words[0].Text)
	letters, long, always := "", []string(nil), false
	switch name {
	case "grep", "egrep", "fgrep", "zgrep", "ugrep", "ug":
		letters, long = "rR", []string{"recursive", "dereference-recursive", "directories"}
	case "rgrep":
		always = true
	case "rg", "ag", "ack":
		always, skips = true, true
	case "diff", "zip", "scp":
		letters, long = "r", []string{"recursive", "recurse-paths"}
	case "cp":
		letters, long = "rRa", []string{"recursive", "archive"}
	case "rsync":
		letters, long = "ra", []string{"recursive", "archive"}
	case "tar", "bsdtar":
		letters, long = "cru", []string{"create", "append", "update"}
		always = len(words) > 1 && !strings.HasPrefix(words[1].Text, "-") && strings.ContainsAny(words[1].Text, letters)
	default:
		return nil, false
	}
	unrestricted := 0
	for i, w := range words[1:] {
		option, isLong := strings.CutPrefix(w.Text, "--")
		option, _, _ = strings.Cut(option, "=")
		switch {
		case isLong && option != "":
			always = always || slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(l, option) })
			switch option {
			case "hidden", "all-types":
				skips = false
			case "unrestricted":
				unrestricted++
			}
		case strings.HasPrefix(w.Text, "-") && len(w.Text) > 1:
			always = always || letters != "" && strings.ContainsAny(w.Text[1:], letters) || w.Text == "-d" && i+2 < len(words) && words[i+2].Text == "recurse" || w.Text == "-drecurse"
			unrestricted += strings.Count(w.Text[1:], "u")
			skips = skips && !strings.Contains(w.Text[1:], ".")
		case w.Text != "":
			roots = append(roots, w.Text)
		}
	}
	switch {
	case !always:
		return nil, false
	case name == "ag" && unrestricted > 0, unrestricted > 1:
		skips = false
	}
	if searches := letters == "rR" && name != "cp" || name == "rgrep" || name == "rg" || name == "ag" || name == "ack"; searches && len(roots) < 2 {
		roots = append(roots, ".")
	}
	return roots, skips
}

// tree returns the first file below what a command reads as a whole that a rule for reading
// denies or asks for; all is false when there are more files than are looked at.
func (p *Policy) tree(at *places, words []shellparse.Word) (r rule, file string, all bool) {
	roots, skips := treeRoots(words)
	all = true
	if len(roots) == 0 || at.holds == nil {
		return rule{}, "", true
	}
	rules := slices.Concat(p.deny, p.ask)
	for _, root := range roots {
		for _, dir := range at.absolute(root) {
			if at.named++; at.named > maxNamed {
				return rule{}, "", false
			}
			dir = at.resolve(dir).Abs
			found, whole := at.holds(dir, func(abs string) bool {
				if rest := strings.TrimPrefix(abs, dir); skips && strings.Contains(rest, "/.") {
					return false
				}
				have, ok := find(rules, func(r rule) bool { return r.forFile(Read, abs, true) })
				if ok {
					r = have
				}
				return ok
			})
			if found != "" {
				return r, found, true
			}
			all = all && whole
		}
	}
	return rule{}, "", all
}

// tightenTree asks for a command that reads a folder in which there is a file that a rule
// withholds.
func (p *Policy) tightenTree(at *places, words []shellparse.Word) (Verdict, bool) {
	r, file, _ := p.tree(at, words)
	if file == "" {
		return Verdict{}, false
	}
	return ask(r.text, fmt.Sprintf("%s reads all that is below a folder, and there is %s, of which the rule %s is. Grep leaves such files out; or name what may be read.", quoted(shellparse.Step{Words: words}.Text()), file, r.text)), true
}

// unknownFile returns which part of a step could name a file that a rule withholds and cannot
// be known, so that no rule which allows covers it; "" when there is none.
func (p *Policy) unknownFile(at *places, step shellparse.Step) string {
	reads := func(r rule) bool { return r.form == file && r.kind != Write }
	writes := func(r rule) bool { return r.form == file && r.kind == Write }
	switch step.Words[0].Text {
	case "test", "[":
		return ""
	}
	if namesNoFiles(step.Words[0].Text) {
		return ""
	}
	counts := slices.ContainsFunc(p.deny, reads) || slices.ContainsFunc(p.ask, reads)
	if !counts && !((slices.ContainsFunc(p.deny, writes) || slices.ContainsFunc(p.ask, writes)) && writesOperands(step.Words)) {
		return ""
	}
	lists := step.Becomes
	if lists == nil {
		lists = [][]shellparse.Word{step.Words}
	}
	for _, words := range lists {
		for _, w := range words {
			if w.Unknown != "" {
				return "what " + quoted(w.Unknown) + " names cannot be known from the line, and there are rules that deny or ask for files"
			}
		}
		if _, _, all := p.tree(at, words); !all && counts {
			return "it reads more files than can be compared with the rules about files"
		}
	}
	return ""
}
