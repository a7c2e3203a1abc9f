package permission

import (
	"errors"
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// cutFolder takes the folder off a rule that is given for one: cd web && make test.
func cutFolder(arg string) (folder, rest string, ok bool) {
	if !strings.HasPrefix(arg, "cd ") {
		return "", "", false
	}
	for from := 0; ; {
		i := strings.Index(arg[from:], "&&")
		if i < 0 {
			return "", "", false
		}
		front := arg[:from+i]
		from += i + 2
		home, tilde := strings.CutPrefix(strings.TrimSpace(front[3:]), "~/")
		if tilde {
			front = "cd ./" + home
		}
		words, err := shellparse.Words(front)
		if err != nil || len(words) != 2 {
			continue
		}
		if folder = words[1]; tilde {
			folder = "~" + strings.TrimPrefix(folder, ".")
		}
		return folder, strings.TrimSpace(arg[from:]), true
	}
}

// folder makes the folder of a rule absolute.
func (p parser) folder(dir string) (string, error) {
	if home, ok := strings.CutPrefix(dir, "~/"); ok {
		if p.home == "" {
			return "", errors.New("the home folder is not known")
		}
		return path.Join(p.home, home), nil
	}
	if path.IsAbs(dir) {
		return path.Clean(dir), nil
	}
	if p.root == "" {
		return "", errors.New("a relative folder needs a workspace")
	}
	return path.Join(p.root, dir), nil
}

// enter notes where a step runs, before it is judged. Steps are entered in order.
func (at *places) enter(step shellparse.Step) {
	at.now = at.dirs
	if step.Behind > 0 && step.Behind <= len(at.entered) {
		cd := at.entered[step.Behind-1]
		var dirs []string
		for _, dir := range cd.dirs {
			to := at.target(cd.step, dir)
			if to == "" {
				dirs = nil
				break
			}
			if !slices.Contains(dirs, to) {
				dirs = append(dirs, to)
			}
		}
		if len(dirs) > 0 {
			at.now = dirs
		}
	}
	at.entered = append(at.entered, entered{step, slices.Clone(at.now)})
}

// here is the folders in which the step that is judged may run; steps that were not
// entered may run in all.
func (at *places) here() []string {
	if at.now != nil {
		return at.now
	}
	return at.dirs
}

// entered is a step with the folders in which it may run.
type entered struct {
	step shellparse.Step
	dirs []string
}

// elsewhere returns why an allow rule does not count where the step runs, "" where it
// counts: in its own folder,
// which is the root of the workspace unless another is given; or, for one that is given
// for none and begins with a program, not a path, and leaves open how it goes on, in every
// folder of the workspace that Git does not ignore.
func (at *places) elsewhere(r rule, words []shellparse.Word) string {
	if at.root == "" {
		return ""
	}
	if r.prefix && r.dir == "" && !namesPath(words) {
		if at.inIgnored() {
			return "the rule " + r.text + " does not count in a folder that Git ignores"
		}
		return ""
	}
	home := at.root
	if r.dir != "" {
		home = at.resolve(r.dir).Abs
	}
	for _, dir := range at.now {
		if at.resolve(dir).Abs != home {
			return "the rule " + r.text + " counts in " + home + " only"
		}
	}
	if len(at.now) == 0 {
		return "its folder is not known"
	}
	return ""
}

// inIgnored reports whether the step may run in a folder that Git ignores.
func (at *places) inIgnored() bool {
	return at.ignored != nil && slices.ContainsFunc(at.now, func(dir string) bool { return at.ignored(at.resolve(dir).Abs) })
}

// mayBeIn reports whether a step that tightens may run in the folder of a rule.
func (at *places) mayBeIn(r rule) bool {
	return r.dir == "" || at.outside || slices.ContainsFunc(at.dirs, func(dir string) bool { return at.resolve(dir).Abs == at.resolve(r.dir).Abs })
}

// namesPath reports whether a program, or the script of an interpreter, is named by a
// relative path: it is another one in another folder.
func namesPath(words []shellparse.Word) bool {
	relative := func(text string) bool { return strings.Contains(text, "/") && !path.IsAbs(text) }
	switch words[0].Text {
	case "bash", "sh", "dash", "zsh", "ksh", "python", "python3", "node", "perl", "ruby", "php", "deno", "bun":
		return len(words) > 1 && !path.IsAbs(words[1].Text)
	}
	return relative(words[0].Text)
}

// given is the folder in front of a rule that is suggested for where the step runs, "" for
// the root; false when that cannot be told.
func (at *places) given() (front string, ok bool) {
	if len(at.now) == 0 || at.root == "" {
		return "", at.root == ""
	}
	dir := at.resolve(at.now[0]).Abs
	for _, other := range at.now {
		if at.resolve(other).Abs != dir {
			return "", false
		}
	}
	if dir == at.root {
		return "", true
	}
	if below, ok := strings.CutPrefix(dir, at.root+"/"); ok {
		dir = below
	}
	if !printable(dir) || strings.HasPrefix(dir, "-") {
		return "", false
	}
	return shellparse.Quote([]string{"cd", dir}) + " && ", true
}
