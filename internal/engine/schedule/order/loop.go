package order

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"scorel/protocol"
)

// unitNames are the units of a length of time, the longest first.
var unitNames = [][]string{
	{"w", "week", "weeks"}, {"d", "day", "days"}, {"h", "hour", "hours", "hr", "hrs"},
	{"m", "minute", "minutes", "min", "mins"}, {"s", "second", "seconds", "sec", "secs"},
}

// spanPart is a number with its unit, at the front of a word.
var spanPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+)([a-z]*)`) })

// span returns how many words at the front are a length of time, such as 5m, 2h30m or
// 2 hours 30 minutes; after every also a unit alone, such as hour.
func span(words []string, alone bool) (n int) {
	least := 0 // the first of unitNames that may be next
	unit := func(name string) bool {
		i := slices.IndexFunc(unitNames, func(names []string) bool { return slices.Contains(names, name) })
		if i < least {
			return false
		}
		least = i + 1
		return true
	}
	if alone && len(words) > 0 && len(words[0]) > 2 && unit(strings.ToLower(words[0])) {
		return 1
	}
	for n < len(words) {
		word, took := strings.ToLower(words[n]), 0
		for word != "" {
			m := spanPart().FindStringSubmatch(word)
			switch {
			case m == nil:
				return n
			case m[2] == "" && took == 0 && len(m[1]) == len(word) && n+1 < len(words) && unit(strings.ToLower(words[n+1])):
				word, took = "", 2
			case m[2] != "" && unit(m[2]):
				word, took = word[len(m[0]):], 1
			default:
				return n
			}
		}
		if took == 0 { // an empty word, as "" on a command line
			return n
		}
		n += took
	}
	return n
}

// splitLoop returns the interval at the front of what follows /loop, "" when none is there, and the
// prompt, as it was written. Words that look like a time and are no interval are refused: what
// somebody meant as a time is not to be sent.
func splitLoop(text string) (when, prompt string, err error) {
	text = strings.TrimSpace(text)
	if quoted, rest, found := strings.Cut(strings.TrimPrefix(text, `"`), `"`); found && text[0] == '"' {
		if words := strings.Fields(quoted); loopTime(words) == len(words) && len(words) > 0 {
			return quoted, strings.TrimSpace(rest), nil
		}
	}
	words := strings.Fields(text)
	if n := loopTime(words); n > 0 {
		for _, word := range words[:n] {
			_, text, _ = strings.Cut(text, word)
		}
		return strings.Join(words[:n], " "), strings.TrimSpace(text), nil
	}
	if shown := likeTime(words); shown != "" {
		return "", "", fmt.Errorf("%q is not an interval that /loop can take; begin with one, as in /loop 10m PROMPT, /loop every 1h PROMPT or /loop 2 hours PROMPT (other times are for /schedule add)", shown)
	}
	if text == "" {
		return "", "", errors.New("add what is to be sent: /loop [5m] PROMPT")
	}
	return "", text, nil
}

// loopTime returns how many words at the front are an interval.
func loopTime(words []string) int {
	if len(words) > 0 && strings.EqualFold(words[0], "every") {
		if n := span(words[1:], true); n > 0 {
			return n + 1
		}
		return 0
	}
	return span(words, false)
}

// likeTime returns the words that look like a time, "" when none do.
func likeTime(words []string) string {
	if len(words) == 0 {
		return ""
	}
	first := strings.Trim(strings.ToLower(words[0]), `"`)
	switch {
	case cronFields(words):
		return strings.Join(words[:5], " ")
	case first == "every" || first == "at" || first == "in":
		return strings.Join(words[:min(2, len(words))], " ")
	case first != "" && first[0] >= '0' && first[0] <= '9', strings.HasPrefix(first, "*/"),
		slices.Contains([]string{"secondly", "minutely", "hourly", "daily", "nightly", "weekly", "monthly", "yearly", "annually", "midnight"}, strings.TrimPrefix(first, "@")):
		return words[0]
	}
	for i, word := range words {
		if rest := words[i+1:]; strings.EqualFold(word, "every") && len(rest) > 0 && span(rest, true) == len(rest) {
			return strings.Join(words[i:], " ")
		}
	}
	return ""
}

// cronFields reports whether words begin with a cron expression.
func cronFields(words []string) bool {
	return len(words) >= 5 && !slices.ContainsFunc(words[:5], func(w string) bool { return !cronField(w) })
}

// LoopSchedule returns the schedule of what follows /loop; otherwise is its interval where none
// is named.
func LoopSchedule(text, otherwise string) (*protocol.CreateSchedule, error) {
	when, prompt, err := splitLoop(text)
	switch {
	case err != nil:
		return nil, err
	case prompt == "":
		return nil, errors.New("add what is to be sent: /loop [5m] PROMPT")
	case when == "":
		when = otherwise
	}
	if first, _, _ := strings.Cut(when, " "); !strings.EqualFold(first, "every") {
		when = "every " + when
	}
	return &protocol.CreateSchedule{When: when, Prompt: prompt}, nil
}
