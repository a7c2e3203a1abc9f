package permission

import (
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// gitFront takes options off the front of a git command that change nothing of what it
// does: those that turn off the pager and locks, and -C, which is what cd does before. It
// gives the folders of -C in order; false when there is nothing to take off.
func gitFront(words []shellparse.Word) (plain []shellparse.Word, folders []string, ok bool) {
	if words[0].Text != "git" || !words[0].Literal {
		return nil, nil, false
	}
	i := 1
	for ; i < len(words) && words[i].Literal; i++ {
		text := words[i].Text
		if text == "--no-pager" || text == "-P" || text == "--no-optional-locks" {
			continue
		}
		if text != "-C" {
			break
		}
		if i+1 < len(words) && words[i+1].Literal && words[i+1].Text != "" && !strings.HasPrefix(words[i+1].Text, "-") && !climbsBack(words[i+1].Text) {
			i++
			folders = append(folders, words[i].Text)
			continue
		}
		return nil, nil, false
	}
	if i == 1 {
		return nil, nil, false
	}
	return append([]shellparse.Word{words[0]}, words[i:]...), folders, true
}

// in returns the places of a command that goes to folders first, as git -C does; false when
// they do not certainly lie in the workspace.
func (at *places) in(folders []string) (*places, bool) {
	there := *at
	there.now = nil
	for _, dir := range at.here() {
		for _, folder := range folders {
			dir = from(dir, folder)
		}
		if !at.resolve(dir).Inside {
			return nil, false
		}
		there.now = append(there.now, dir)
	}
	return &there, len(there.now) > 0
}

// gitPermits judges a git command without the options in front that change nothing.
func (p *Policy) gitPermits(at *places, words []shellparse.Word) (rule, why string, ok bool) {
	plain, folders, ok := gitFront(words)
	if !ok {
		return "", "", false
	}
	there, ok := at.in(folders)
	if !ok {
		return "", "-C leads outside the workspace", true
	}
	for _, r := range p.allow {
		if !r.permits(plain) {
			continue
		}
		if why = there.elsewhere(r, plain); why == "" {
			why = at.git(words)
		}
		if why == "" {
			return r.text, "", true
		}
	}
	return "", why, why != ""
}

// into adds the folders to which a git command goes to those in which it may run, for
// rules that deny or ask, and returns what takes them back.
func (at *places) into(words []shellparse.Word) func() {
	if path.Base(words[0].Text) != "git" || len(at.dirs) == 0 {
		return func() {}
	}
	before := at.dirs
	dirs := slices.Clone(at.dirs)
	for _, dir := range before {
		for i := 1; i+1 < len(words) && strings.HasPrefix(words[i].Text, "-"); i++ {
			if words[i].Text == "-C" && len(dirs) < maxPlaces {
				i++
				dir = from(dir, at.expand(words[i].Text))
				dirs = append(dirs, dir, at.resolve(dir).Abs)
			}
		}
	}
	at.dirs = dirs
	return func() { at.dirs = before }
}
