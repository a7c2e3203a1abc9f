package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/engine/command"
	"scorel/internal/engine/discovery"
	"scorel/internal/text/frontmatter"
)

// Bounds of what is found.
const (
	maxSkills = 500  // that count
	maxFound  = 2000 // with those that do not
)

// Finder finds skills and remembers what it read.
type Finder struct {
	own   string // Scorel's own folder
	cache *discovery.Cache[read]
}

// read is what was read of a SKILL.md.
type read struct {
	skill   Skill
	problem string
}

// NewFinder makes a finder; own is Scorel's own folder.
func NewFinder(own string) *Finder { return &Finder{own, discovery.NewCache[read](nil)} }

// Found is what was found, sorted by name and then as it counts.
type Found struct {
	Skills   []Skill
	Problems []string // about what is not a skill, sentences
}

// Counting returns the skills that count: one of each name, sorted by it.
func (f *Found) Counting() []Skill {
	var out []Skill
	for _, s := range f.Skills {
		if s.State == OK || s.State == Untrusted {
			out = append(out, s)
		}
	}
	return out
}

// Find looks for skills in the places, those that count most first. Trusted says
// whether the folder of a project's skill with an entry is trusted, by the name that
// trust has for it; it is asked for these alone.
func (f *Finder) Find(ctx context.Context, list []discovery.Place, trusted func(name string) bool) *Found {
	found := &Found{}
	counts := map[string]string{} // name → where it counts
	folders := map[string]string{}
	for _, p := range list {
		names, more, err := p.Names()
		if err != nil {
			found.Problems = append(found.Problems, "Skills: "+err.Error()+".")
		}
		if more {
			found.Problems = append(found.Problems, fmt.Sprintf("Skills: %s has more names than are looked at.", p.Dir))
		}
		for _, name := range names {
			if ctx.Err() != nil {
				return found
			}
			s, ok := f.look(p, name)
			switch {
			case !ok:
				continue
			case !command.ValidName(name):
				found.Problems = append(found.Problems, fmt.Sprintf("The skill %s is left out: a name has letters, digits, dots, dashes and underscores, at most 64.", s.Path))
				continue
			case len(found.Skills) >= maxFound || len(counts) >= maxSkills && counts[name] == "":
				found.Problems = append(found.Problems, fmt.Sprintf("There are more than %d skills; the others are left out.", maxSkills))
				found.sort()
				return found
			}
			switch same := folders[s.Dir]; {
			case s.State == Broken:
			case counts[name] != "":
				s.State, s.Problems = Shadowed, append(s.Problems, "It is hidden by "+counts[name]+".")
			case same != "":
				s.State, s.Problems = Shadowed, append(s.Problems, "It is the same folder as "+same+".")
			default:
				counts[name], folders[s.Dir] = s.Path, s.Path
				if s.Entry != "" && s.Project() && (s.trusted() == "" || !trusted(s.trusted())) {
					s.State = Untrusted
					s.Problems = append(s.Problems, untrusted(s))
				}
			}
			found.Skills = append(found.Skills, s)
		}
	}
	found.sort()
	return found
}

func untrusted(s Skill) string {
	if s.trusted() == "" {
		return "Its program does not run: only skills in the top folder of a project can be trusted; move it there, or to your own skills."
	}
	return "Its program does not run, because its files are not trusted; scorel trust shows them."
}

func (f *Found) sort() {
	slices.SortStableFunc(f.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
}

// look reads what a name of a place is, if it is a skill.
func (f *Finder) look(p discovery.Place, name string) (Skill, bool) {
	s := Skill{Name: name, Path: filepath.Join(p.Dir, name, File), Place: p, State: Broken}
	dir, err := p.Resolve(name, f.own)
	if err != nil {
		s.Problems = []string{"It cannot be used: its folder " + err.Error() + "."}
		return s, !errors.Is(err, fs.ErrNotExist)
	}
	got, err := f.cache.Get(dir, File, func() (read, error) {
		c, err := discovery.Read(dir, File, maxFile)
		if err != nil {
			return read{}, err
		}
		s, _, err := parseIn(p, c.Data)
		s.Hash = c.Hash
		if err != nil {
			return read{s, "It cannot be used: " + frontmatter.At(File, err) + "."}, nil
		}
		return read{s, ""}, nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, false // any folder, or a file
	case err != nil:
		s.Problems = []string{"It cannot be used: " + File + " " + err.Error() + "."}
		return s, true
	}
	out := got.skill
	out.Name, out.Path, out.Place, out.Dir, out.State = s.Name, s.Path, p, dir, OK
	if got.problem != "" {
		out.State, out.Problems = Broken, []string{got.problem}
	}
	return out, true
}
