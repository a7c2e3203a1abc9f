package config

import "errors"

// errWidens reports that a project's file would loosen what the user has set.
var errWidens = errors.New("a project may not loosen the sandbox")

// Tighten returns the stricter of two tables: what a project wishes counts only as
// far as it confines commands more than the user does. ok reports whether all of
// the wish was taken.
func (s Sandbox) Tighten(wish Sandbox) (out Sandbox, ok bool) {
	out, ok = s, true
	if strictness(wish.Mode) >= strictness(s.Mode) {
		out.Mode = wish.Mode
	} else {
		ok = false
	}
	out.Network = s.Network && wish.Network
	out.SSHAgent = s.SSHAgent && wish.SSHAgent
	return out, ok && (s.Network || !wish.Network) && (s.SSHAgent || !wish.SSHAgent)
}

func strictness(mode string) int {
	switch mode {
	case "off":
		return 0
	case "read-only":
		return 2
	}
	return 1
}

func sandboxMode(c *Config, e entry) error {
	wish := c.Sandbox
	if err := choose(&wish.Mode, e, "workspace-write", "read-only", "off"); err != nil {
		return err
	}
	return setSandbox(c, wish, e)
}

func sandboxNetwork(c *Config, e entry) error {
	wish := c.Sandbox
	if err := boolean(&wish.Network, e); err != nil {
		return err
	}
	return setSandbox(c, wish, e)
}

func setSandbox(c *Config, wish Sandbox, e entry) error {
	if e.source.Kind == SourceProject {
		var ok bool
		if wish, ok = c.Sandbox.Tighten(wish); !ok {
			return errWidens
		}
	}
	c.Sandbox = wish
	return nil
}
