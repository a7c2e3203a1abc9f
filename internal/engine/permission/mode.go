package permission

import "fmt"

// Mode returns what is asked for when no rule decides.
type Mode string

// The modes.
const (
	Default     Mode = "default"           // asks for writes, commands, the network and reads outside
	AcceptEdits Mode = "acceptEdits"       // as default, without writes inside the workspace
	Plan        Mode = "plan"              // asks for nothing and only reads
	DontAsk     Mode = "dontAsk"           // denies what default would ask for
	Bypass      Mode = "bypassPermissions" // asks for nothing
)

// Modes returns all of them, the usual one first.
func Modes() []Mode { return []Mode{Default, AcceptEdits, Plan, DontAsk, Bypass} }

// ParseMode returns the mode of that name; "" is [Default].
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "":
		return Default, nil
	case Default, AcceptEdits, Plan, DontAsk, Bypass:
		return m, nil
	case "auto":
		return "", fmt.Errorf("the permission mode auto does not exist yet; use %s", modeNames)
	}
	return "", fmt.Errorf("%q is not a permission mode; use %s", s, modeNames)
}

const modeNames = "default, acceptEdits, plan, dontAsk or bypassPermissions"

// Tighter returns the one of two modes under which less happens without a person: plan
// before dontAsk, default, acceptEdits and bypassPermissions. "" is no mode: the other
// is given.
func Tighter(a, b Mode) Mode {
	if a == "" || b != "" && width(b) < width(a) {
		return b
	}
	return a
}

func width(m Mode) int {
	switch m {
	case Plan:
		return 0
	case DontAsk:
		return 1
	case Default:
		return 2
	case AcceptEdits:
		return 3
	}
	return 4
}
