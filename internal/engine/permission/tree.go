package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"scorel/internal/engine/permission/shellparse"
)

// treeReader is how a program is told to read what is below a folder.
type treeReader struct {
	letters  string   // options of one letter that tell it so
	long     []string // long ones; shortened ones count
	always   bool     // it does so without an option
	hides    bool     // it leaves hidden files out
	searches bool     // it reads the working directory where no other is named
	bare     bool     // its first word may be such letters without a dash
}

// treeReaders are the programs that read folders.
var treeReaders = sync.OnceValue(func() map[string]treeReader {
	grep := treeReader{letters: "rR", long: []string{"recursive", "dereference-recursive", "directories"}, searches: true}
	finder := treeReader{always: true, hides: true, searches: true}
	recursive := treeReader{letters: "r", long: []string{"recursive", "recurse-paths"}}
	tar := treeReader{letters: "cru", long: []string{"create", "append", "update"}, bare: true}
	return map[string]treeReader{
		"grep": grep, "egrep": grep, "fgrep": grep, "zgrep": grep, "ugrep": grep, "ug": grep,
		"rgrep": {always: true, searches: true},
		"rg":    finder, "ag": finder, "ack": finder,
		"diff": recursive, "zip": recursive, "scp": recursive,
		"cp":    {letters: "rRa", long: []string{"recursive", "archive"}},
		"rsync": {letters: "ra", long: []string{"recursive", "archive"}},
		"tar":   tar, "bsdtar": tar,
	}
})

// treeRoots returns what a command reads with all that is below: grep -r, rg, cp -r and
// others of the kind. Skips says that hidden files are left out.
func treeRoots(words []shellparse.Word) (roots []string, skips bool) {
	name := path.Base(words[0].Text)
	r, ok := treeReaders()[name]
	if name == "git" { // which else reads what is tracked
		if i := slices.IndexFunc(words, func(w shellparse.Word) bool { return w.Text == "grep" }); i > 0 {
			ok = slices.ContainsFunc(words, func(w shellparse.Word) bool { return w.Text == "--untracked" || w.Text == "--no-index" })
			r, words = treeReader{always: true, searches: true}, words[i:]
		}
	}
	if !ok {
		return nil, false
	}
	reads := r.always || r.bare && len(words) > 1 && !strings.HasPrefix(words[1].Text, "-") && strings.ContainsAny(words[1].Text, r.letters)
	unrestricted := 0
	skips = r.hides
	for i, w := range words[1:] {
		option, isLong := strings.CutPrefix(w.Text, "--")
		option, _, _ = strings.Cut(option, "=")
		switch {
		case isLong && option != "":
			reads = reads || slices.ContainsFunc(r.long, func(l string) bool { return strings.HasPrefix(l, option) })
			switch option {
			case "hidden", "all-types":
				skips = false
			case "unrestricted":
				unrestricted++
			}
		case strings.HasPrefix(w.Text, "-") && len(w.Text) > 1:
			reads = reads || r.recurses(w.Text, words[i+2:])
			unrestricted += strings.Count(w.Text[1:], "u")
			skips = skips && !strings.Contains(w.Text[1:], ".")
		case w.Text != "":
			roots = append(roots, w.Text)
		}
	}
	switch {
	case !reads:
		return nil, false
	case name == "ag" && unrestricted > 0, unrestricted > 1:
		skips = false
	}
	if r.searches && len(roots) < 2 {
		roots = append(roots, ".")
	}
	return roots, skips
}

// recurses reports whether short options, which begin with a dash, have it read folders.
func (r treeReader) recurses(options string, after []shellparse.Word) bool {
	switch {
	case r.letters != "" && strings.ContainsAny(options[1:], r.letters), options == "-drecurse":
		return true
	}
	return options == "-d" && len(after) > 0 && after[0].Text == "recurse"
}

// tree returns the first file below what a command reads as a whole that a rule for reading
// denies or asks for; all is false when there are more files than are looked at.
func (p *Policy) tree(at *places, words []shellparse.Word) (r rule, file string, all bool) {
	roots, skips := treeRoots(words)
	if len(roots) == 0 || at.holds == nil {
		return rule{}, "", true
	}
	dirs, all := at.matched(shellparse.Step{Words: words})
	for _, root := range roots {
		for _, dir := range at.absolute(root) {
			if at.named++; at.named > maxNamed {
				return rule{}, "", false
			}
			dirs = append(dirs, dir)
		}
	}
	rules := slices.Concat(p.deny, p.ask)
	for _, dir := range dirs {
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
