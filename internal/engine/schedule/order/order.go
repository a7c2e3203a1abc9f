package order

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"scorel/protocol"
)

// Order is what somebody asks of a schedule that is to be made.
type Order struct {
	Cron, Prompt string // of the form create NAME --cron EXPRESSION --prompt TEXT
	Name, Zone   string
	Session      string // the session that it works in, as it was named
	Fresh, Kept  bool
	Dir          string
	Options      protocol.TurnOptions
	OnQuestion   string
}

// Register adds the flags of an order to a set.
func (o *Order) Register(f *pflag.FlagSet) {
	f.StringVar(&o.Name, "name", "", "what the schedule is called")
	f.StringVar(&o.Zone, "zone", "", "the time zone of a cron expression, such as Europe/Berlin (default: the host's)")
	f.BoolVar(&o.Fresh, "fresh", false, "work in a new session each time")
	f.BoolVar(&o.Kept, "keep", false, "work in one session of its own")
	f.StringVar(&o.Dir, "cwd", "", "the folder of --fresh and --keep")
	f.StringVar(&o.Options.Model, "model", "", "the model")
	f.StringVar(&o.Options.Thinking, "thinking", "", "how much it thinks")
	f.StringVar(&o.Options.Mode, "permission-mode", "", "default, acceptEdits, plan or dontAsk (default: dontAsk)")
	f.StringArrayVar(&o.Options.Allow, "allowed-tools", nil, "what it may do without a question, as a rule; repeatable")
	f.StringArrayVar(&o.Options.Deny, "disallowed-tools", nil, "what it may not do, as a rule; repeatable")
	f.IntVar(&o.Options.MaxSteps, "max-turns", 0, "steps that a run takes at most")
	f.Float64Var(&o.Options.MaxBudgetUSD, "max-budget-usd", 0, "what a run costs at most, in dollars")
	f.StringVar(&o.OnQuestion, "on-question", "", "what becomes of a question: deny, or wait for somebody (default: automation.onQuestion)")
	f.StringVar(&o.Cron, "cron", "", "when it is due, as a cron expression")
	f.StringVar(&o.Prompt, "prompt", "", "what is to be done")
}

// Usage is what an order looks like.
const Usage = `WHEN PROMPT, where WHEN is every 5m, in 2h, at 09:00, at 2026-12-01 09:00, or a cron expression in quotes such as "0 9 * * 1-5"`

// Request returns what an order asks for, with the words that stand beside its flags.
func (o *Order) Request(words []string) (*protocol.CreateSchedule, error) {
	when, rest := o.Cron, words
	switch {
	case o.Cron != "" && o.Prompt != "": // create NAME --cron … --prompt …
		if len(words) > 1 || len(words) == 1 && o.Name != "" {
			return nil, fmt.Errorf("with --cron and --prompt only the name can stand beside them")
		}
		if len(words) == 1 {
			o.Name = words[0]
		}
		rest = nil
	case o.Cron == "":
		when, rest = SplitWhen(words)
	}
	prompt := o.Prompt
	if prompt == "" {
		prompt = strings.Join(rest, " ")
	} else if len(rest) > 0 {
		return nil, fmt.Errorf("the prompt is given twice: leave out --prompt, or %q", strings.Join(rest, " "))
	}
	switch {
	case when == "" || strings.TrimSpace(prompt) == "":
		return nil, errors.New("add when and what: " + Usage)
	case o.Fresh && o.Kept:
		return nil, errors.New("--fresh is a new session each time, and --keep one of its own; use one of them")
	}
	r := &protocol.CreateSchedule{Name: o.Name, When: when, Zone: o.Zone, Prompt: prompt, WorkDir: o.Dir, OnQuestion: o.OnQuestion}
	switch {
	case o.Fresh:
		r.Target = string(protocol.TargetFresh)
	case o.Kept:
		r.Target = string(protocol.TargetKept)
	}
	if x := o.Options; x.Model != "" || x.Thinking != "" || x.Mode != "" || len(x.Allow)+len(x.Deny) > 0 || x.MaxSteps != 0 || x.MaxBudgetUSD != 0 {
		r.Options = &x
	}
	return r, nil
}

// The forms of words that say when; they are made when one is first asked for.
var (
	clockTime = form(`^\d{1,2}:\d{2}(:\d{2})?$`)
	date      = form(`^\d{4}-\d{2}-\d{2}$`)
	cronField = form(`^[\d*/,\-]+$|^[a-zA-Z]{3}([,-][a-zA-Z]{3})*$`)
)

// form returns what reports whether a word has a form.
func form(expr string) func(word string) bool {
	re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return func(word string) bool { return re().MatchString(word) }
}

// SplitWhen returns the words at the front that say when, and the others.
func SplitWhen(words []string) (when string, rest []string) {
	n := 0
	switch {
	case len(words) == 0:
	case words[0] == "", strings.ContainsAny(words[0], " \t"), strings.HasPrefix(words[0], "@"): // in quotes, or one word
		n = 1
	case words[0] == "every" || words[0] == "in":
		n = 1 + max(1, span(words[1:], words[0] == "every"))
	case words[0] == "at":
		n = 2
		if len(words) > 2 && date(words[1]) && clockTime(words[2]) {
			n = 3
		}
	case len(words) > 5 && cronFields(words):
		n = 5
	default:
		n = span(words, false)
	}
	n = min(n, len(words))
	return strings.Join(words[:n], " "), words[n:]
}

// shortest is how many characters a part of an id has at least.
const shortest = 6

// Find returns the schedule that a word means: its id, its name, or the beginning of the id.
// Where it could be several it is the only one that may still be due, or none.
func Find(list []protocol.Schedule, word string) (*protocol.Schedule, error) {
	of := func(list []protocol.Schedule) (*protocol.Schedule, error) {
		i, err := find(len(list), word, "schedule", func(i int) (string, string) { return string(list[i].ScheduleID), list[i].Name })
		if err != nil {
			return nil, err
		}
		return &list[i], nil
	}
	found, err := of(list)
	if err != nil {
		due := slices.DeleteFunc(slices.Clone(list), func(s protocol.Schedule) bool { return s.State == protocol.ScheduleDone })
		if one, derr := of(due); derr == nil {
			return one, nil
		}
	}
	return found, err
}

// FindRun returns the run that a word means: its id or the beginning of that.
func FindRun(list []protocol.ScheduleRun, word string) (*protocol.ScheduleRun, error) {
	i, err := find(len(list), word, "run", func(i int) (string, string) { return string(list[i].RunID), "" })
	if err != nil {
		return nil, err
	}
	return &list[i], nil
}

func find(n int, word, noun string, named func(int) (id, name string)) (int, error) {
	if word == "" {
		return 0, fmt.Errorf("name the %s; the list of them has its name and id", noun)
	}
	found := []int{}
	for i := range n {
		id, name := named(i)
		_, short, _ := strings.Cut(id, "_")
		switch {
		case id == word:
			return i, nil
		case name == word, len(word) >= shortest && (strings.HasPrefix(id, word) && len(word) >= 4+shortest || strings.HasPrefix(short, word)):
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("there is no %s %.80q; the list of them has their names and ids", noun, word)
	case 1:
		return found[0], nil
	}
	return 0, fmt.Errorf("%d %ss could be %.80q; use the id", len(found), noun, word)
}
