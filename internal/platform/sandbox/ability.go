package sandbox

import "strings"

// Ability is one thing that a sandbox needs of the system.
type Ability struct {
	Name   string // short, such as "user namespaces"
	Holds  bool
	Text   string // what it gives, or what is missing without it; one sentence
	Advice string // what to do where it is missing, "" where it holds
}

// Level returns how much of a sandbox this system can hold.
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

	namespaces bool        // user and mount namespaces
	netns      func() bool // whether network namespaces can be made, which is asked once and late; nil: they do not matter
	landlock   int         // ABI
	seccomp    bool
}

// Network returns the ability to take the network away and leave a loopback; false
// on systems that do it otherwise. It looks once a process, which takes about a
// millisecond.
func (s Status) Network() (Ability, bool) {
	if s.netns == nil {
		return Ability{}, false
	}
	a := Ability{Name: "network namespace", Holds: s.netns()}
	if a.Holds {
		a.Text = "network = false leaves a loopback of the command's own and nothing else."
	} else {
		a.Text, a.Advice = "there is no network namespace", "network = false then takes the loopback away, too."
	}
	return a, true
}

// Ability returns the ability of that name.
func (s Status) Ability(name string) (Ability, bool) {
	for _, a := range s.Abilities {
		if a.Name == name {
			return a, true
		}
	}
	return Ability{}, false
}

func join(sentences []string) string { return strings.Join(sentences, " ") }
