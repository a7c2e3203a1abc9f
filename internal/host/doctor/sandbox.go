package doctor

import (
	"context"
	"strings"

	"scorel/internal/platform/sandbox"
)

// Sandbox checks how commands are confined: first whether they are at all, then
// each thing that this needs of the system.
func Sandbox(mode sandbox.Mode, network bool, s sandbox.Status) []Check {
	checks := []Check{{"sandbox", func(context.Context) Finding { return confinement(mode, network, s) }}}
	abilities := s.Abilities
	if a, asks := s.Network(); asks {
		abilities = append(abilities[:len(abilities):len(abilities)], a)
	}
	for _, a := range abilities {
		checks = append(checks, Check{abilityID(a.Name), func(context.Context) Finding {
			if !a.Holds {
				return Warn(a.Text, a.Advice)
			}
			return OK("%s", a.Text)
		}})
	}
	return checks
}

func confinement(mode sandbox.Mode, network bool, s sandbox.Status) Finding {
	const how = "See docs/sandbox.md, and the advice below."
	text := string(mode)
	if !network {
		text += ", without the network"
	}
	switch {
	case mode == sandbox.Off:
		return Warn("off: an allowed command can do all that you can", "Remove mode = \"off\" from the table [sandbox] of config.toml.")
	case s.Level == sandbox.Unconfined && (mode != sandbox.WorkspaceWrite || !network):
		return Fail(text+": "+s.Missing+" Commands that must be confined further do not start.", how)
	case s.Level == sandbox.Unconfined:
		return Fail(text+": "+s.Missing, how)
	case s.Level == sandbox.Partly:
		return Warn(text+": "+s.Missing, how)
	}
	return OK("%s: all holds", text)
}

// abilityID makes the id of a check of a name.
func abilityID(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
