package skill

import (
	"slices"
	"strings"

	"scorel/protocol"
)

// Entries returns skills as they are in the index of a log.
func Entries(skills []Skill) []protocol.Skill {
	out := make([]protocol.Skill, len(skills))
	for i, s := range skills {
		out[i] = protocol.Skill{Name: s.Name, Description: s.Description, Path: s.Path, Source: s.Place.Label, Hash: s.Hash}
	}
	return out
}

// Fold returns an index after one more event of a log. Other events change nothing.
func Fold(index []protocol.Skill, body protocol.Body) []protocol.Skill {
	switch b := body.(type) {
	case *protocol.SkillIndexSnapshot:
		return sorted(b.Entries)
	case *protocol.SkillIndexDelta:
		gone := func(s protocol.Skill) bool {
			is := func(o protocol.Skill) bool { return o.Name == s.Name }
			return slices.Contains(b.Removed, s.Name) || slices.ContainsFunc(b.Changed, is) || slices.ContainsFunc(b.Added, is)
		}
		return sorted(append(append(slices.DeleteFunc(slices.Clone(index), gone), b.Changed...), b.Added...))
	}
	return index
}

func sorted(index []protocol.Skill) []protocol.Skill {
	out := slices.Clone(index)
	slices.SortStableFunc(out, func(a, b protocol.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Change returns the event that makes one index of another, nil when they are the same:
// a delta, or the whole when the log has none yet, which known says. Both are sorted
// by name.
func Change(was, now []protocol.Skill, known bool) protocol.Body {
	if !known {
		if len(now) == 0 {
			return nil
		}
		return &protocol.SkillIndexSnapshot{Entries: now}
	}
	d := &protocol.SkillIndexDelta{}
	for len(was)+len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].Name < now[0].Name:
			d.Removed = append(d.Removed, was[0].Name)
			was = was[1:]
		case len(was) == 0 || now[0].Name < was[0].Name:
			d.Added = append(d.Added, now[0])
			now = now[1:]
		default:
			if was[0] != now[0] {
				d.Changed = append(d.Changed, now[0])
			}
			was, now = was[1:], now[1:]
		}
	}
	if len(d.Added)+len(d.Changed)+len(d.Removed) == 0 {
		return nil
	}
	return d
}
