package sandbox

import "strings"

// Ability is one thing that a sandbox needs of the system.
type Ability struct {
	Name   string // short, such as "user namespaces"
	Holds  bool
	Text   string // what it gives, or what is missing without it; one sentence
	Advice string // what to do where it is missing, "" where it holds
}

// Level says how much of a sandbox this system can hold.
type Level int

// The levels.
const (
	Unconfined Level = iota // a command can do what the user can
	Partly                  // writes and Scorel's own folder hold; something else does not
	Full
)

// Status is what this system can hold.
type Status struct {
	Level     Level
	Abilities []Ability
	// Missing says in whole sentences what does not hold, "" at [Full].
	Missing string

	namespaces bool // user and mount namespaces
	netns      bool
	landlock   int // ABI
	seccomp    bool
}

// Ability gives the ability of that name.
func (s Status) Ability(name string) (Ability, bool) {
	for _, a := range s.Abilities {
		if a.Name == name {
			return a, true
		}
	}
	return Ability{}, false
}

func join(sentences []string) string { return strings.Join(sentences, " ") }
