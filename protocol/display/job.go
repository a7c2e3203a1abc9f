package display

import (
	"fmt"
	"strings"
	"time"

	"scorel/protocol"
)

// JobActive reports whether a job works, or waits for somebody.
func JobActive(s *protocol.SessionSummary) bool {
	state := s.JobState()
	return state == protocol.JobWorking || state == protocol.JobWaiting
}

// JobTemplateRow is a template as a line of a table: its name, whose it is, and what for.
func JobTemplateRow(t *protocol.JobTemplate) []string {
	return []string{Line(t.Name), t.Scope, Line(t.Description), Line(t.Path)}
}

// JobRow is a job as a line of a table: its session's id, state, template, when something has
// happened last, and what it is called.
func JobRow(s *protocol.SessionSummary, now time.Time) []string {
	return []string{string(s.SessionID), string(s.JobState()), Line(s.Meta.Job.Template), Instant(s.UpdatedAt, now), Line(s.Title())}
}

// JobText is a job in lines, with what it does or asks.
func JobText(s *protocol.SessionSummary, now time.Time) []string {
	lines := []string{
		fmt.Sprintf("%s  %s", s.SessionID, Line(s.Title())),
		"state: " + string(s.JobState()),
		"template: " + Line(s.Meta.Job.Template),
		"folder: " + Line(s.Meta.WorkDir),
		"made: " + Instant(s.CreatedAt, now) + ", changed: " + Instant(s.UpdatedAt, now),
	}
	if st := s.State; st != nil {
		for _, x := range []struct{ name, text string }{{"doing", st.Activity}, {"asks", st.Question}} {
			if x.text != "" {
				lines = append(lines, x.name+": "+Line(x.text))
			}
		}
		if st.Queued > 0 {
			lines = append(lines, fmt.Sprintf("messages that wait: %d", st.Queued))
		}
		if st.CostUSD > 0 {
			lines = append(lines, fmt.Sprintf("cost: $%.2f", st.CostUSD))
		}
	}
	return lines
}

// minOfID is how many characters of an id name a session.
const minOfID = 6

// FindSession returns the session of a list that a person names: by its id, by its name, or by
// what the id begins or ends with. It is nil when none is meant, and an error when several are.
func FindSession(list []protocol.SessionSummary, name string) (*protocol.SessionSummary, error) {
	var named, found []*protocol.SessionSummary
	for i := range list {
		s := &list[i]
		id := string(s.SessionID)
		if id == name {
			return s, nil
		}
		if s.Meta.Name != "" && s.Meta.Name == name {
			named = append(named, s)
		}
		if len(name) >= minOfID && (strings.HasPrefix(id, name) || strings.HasPrefix(id, "ses_"+name) || strings.HasSuffix(id, name)) {
			found = append(found, s)
		}
	}
	switch {
	case len(named) > 1:
		return nil, fmt.Errorf("%d sessions are called %q; use the ID: %s", len(named), name, shortList(named))
	case len(named) == 1:
		return named[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("%d sessions match %q; use more of the ID", len(found), name)
	case len(found) == 1:
		return found[0], nil
	}
	return nil, nil
}

// FindJob is [FindSession] of a list of jobs, in which one must be meant.
func FindJob(list []protocol.SessionSummary, name string) (*protocol.SessionSummary, error) {
	s, err := FindSession(list, name)
	if err == nil && s == nil {
		err = fmt.Errorf("there is no job %q; scorel job list --all shows them", name)
	}
	return s, err
}

// shortList lists ids, at most five.
func shortList(list []*protocol.SessionSummary) string {
	var words []string
	for i, s := range list {
		if i == 5 {
			words = append(words, "…")
			break
		}
		words = append(words, string(s.SessionID))
	}
	return strings.Join(words, ", ")
}

// JobReplied says what became of a message to a job.
func JobReplied(sent *protocol.Sent) string {
	switch {
	case sent.Handled != "":
		return "handled by " + Line(sent.Handled)
	case sent.ItemID != "":
		return "queued: it is taken when the turn that runs has ended"
	}
	return "sent"
}
