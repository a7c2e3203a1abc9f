package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// maxReported bounds how many different failures of one chain are told to people;
// further ones are not.
const maxReported = 64

// Chain asks subscribers in their order: built-in ones, the user's, the project's, by
// name. A panic in a subscriber is an error of it. It may be used by any number of
// goroutines at once.
type Chain struct {
	subscribers []Subscriber
	report      func(string)

	mu       sync.Mutex
	reported []string // failures that people have been told of
}

// New makes a chain. report, which may be nil, takes one sentence for people about
// each subscriber that has failed, once for each of its handlers.
func New(report func(string), subscribers ...Subscriber) *Chain {
	c := &Chain{subscribers: slices.Clone(subscribers), report: report}
	slices.SortStableFunc(c.subscribers, func(a, b Subscriber) int {
		return cmp.Or(a.Scope.rank()-b.Scope.rank(), natural(a.Name, b.Name))
	})
	return c
}

// natural compares names by their parts, numbers by their value: hook 2 comes before
// hook 10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(len(m)-len(n), strings.Compare(m, n)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digits returns how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func (s Scope) rank() int {
	switch s {
	case ScopeBuiltin:
		return 0
	case ScopeUser:
		return 1
	}
	return 2
}

// decides reports whether an allow of this scope counts.
func (s Scope) decides() bool { return s == ScopeBuiltin || s == ScopeUser }

// has reports whether a subscriber has a handler. A nil chain has none.
func (c *Chain) has(handler func(*Subscriber) bool) bool {
	if c == nil {
		return false
	}
	for i := range c.subscribers {
		if handler(&c.subscribers[i]) {
			return true
		}
	}
	return false
}

// AsksTools reports whether somebody wants to see calls or results.
func (c *Chain) AsksTools() bool {
	return c.has(func(s *Subscriber) bool { return s.BeforeTool != nil || s.AfterTool != nil })
}

// ChangesContext reports whether somebody may change what is sent to a model.
func (c *Chain) ChangesContext() bool {
	return c.has(func(s *Subscriber) bool {
		return s.Context != nil || s.TransformContext != nil || s.ConvertToLLM != nil
	})
}

// AsksPrompts reports whether somebody wants to see the messages of users.
func (c *Chain) AsksPrompts() bool { return c.has(func(s *Subscriber) bool { return s.Prompt != nil }) }

// AsksAgent reports whether somebody wants to be asked when a turn begins.
func (c *Chain) AsksAgent() bool {
	return c.has(func(s *Subscriber) bool { return s.BeforeAgent != nil })
}

// AsksStop reports whether somebody wants to be asked when a turn would end.
func (c *Chain) AsksStop() bool { return c.has(func(s *Subscriber) bool { return s.Stop != nil }) }

// AsksRequests reports whether somebody wants to see requests to a provider.
func (c *Chain) AsksRequests() bool {
	return c.has(func(s *Subscriber) bool { return s.BeforeRequest != nil || s.AfterResponse != nil })
}

// Watches reports whether somebody wants to be told what happens.
func (c *Chain) Watches() bool {
	return c.has(func(s *Subscriber) bool { return s.Event != nil || s.Happened != nil })
}

// Note is text for the model, and who gave it.
type Note struct {
	From string
	Text string
}

// each asks the subscribers that have a handler, in order, until more is false or ctx
// has ended, whose error it then gives. What a handler fails with is told to people,
// and failed reports whether to go on.
func (c *Chain) each(ctx context.Context, what string, has func(*Subscriber) bool, ask func(*Subscriber) (more bool, err error)) error {
	if c == nil {
		return nil
	}
	for i := range c.subscribers {
		s := &c.subscribers[i]
		if !has(s) {
			continue
		}
		more := true
		err := safely(func() (err error) {
			more, err = ask(s)
			return err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.failed(s, what, err)
			continue
		}
		if !more {
			return nil
		}
	}
	return nil
}

// called returns what people call a handler.
func (s *Subscriber) called(what string) string { return cmp.Or(s.At, s.Names[what], what) }

// failed tells people that a handler has failed and was skipped, the first time.
func (c *Chain) failed(s *Subscriber, what string, err error) {
	what = s.called(what)
	c.tell(s, what, fmt.Sprintf("%s failed at %s and was skipped: %s", s.Name, what, forPeople(err)))
}

// forPeople is sentence with the place in the code of who failed, where that is known:
// a model has no use for it.
func forPeople(err error) string {
	text := sentence(err)
	var located interface{ Place() string }
	if errors.As(err, &located) && located.Place() != "" {
		text = strings.TrimSuffix(text, ".") + " at " + located.Place() + "."
	}
	return text
}

// tell tells people a sentence about a handler, the first time.
func (c *Chain) tell(s *Subscriber, what, text string) {
	key := s.Name + "\x00" + what
	c.mu.Lock()
	told := c.report == nil || slices.Contains(c.reported, key) || len(c.reported) >= maxReported
	if !told {
		c.reported = append(c.reported, key)
	}
	c.mu.Unlock()
	if !told {
		c.report(text)
	}
}

// sentence bounds the text of an error and ends it as a sentence.
func sentence(err error) string {
	text := strings.TrimRight(err.Error(), ". \n")
	const most = 500
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text + "."
}

// safely makes an error of a panic.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked: %v", r)
		}
	}()
	return f()
}
