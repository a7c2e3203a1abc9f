package slash

import (
	"slices"

	"scorel/protocol"
)

// Client is a kind of client.
type Client int

// The clients for people.
const (
	Screen Client = iota // the terminal UI
	Lines                // line mode: scorel attach --plain
)

// Command is a slash command.
type Command struct {
	Name    string   // without the slash
	Aliases []string // further names that mean the same
	Was     string   // a former name, which still works and says so; "" without one
	Doc     string   // what it does, in a few words

	screen, lines use
}

// use says how a client has a command.
type use struct {
	has     bool
	args    string // what may follow the name, for help
	instead string // what serves where the client does not have it; "" when nothing does
}

// Has reports whether a client has the command.
func (c *Command) Has(in Client) bool { return c.in(in).has }

// Args returns what may follow the name in a client, as help shows it.
func (c *Command) Args(in Client) string { return c.in(in).args }

// Instead returns what serves in a client that does not have the command; "" when
// nothing does.
func (c *Command) Instead(in Client) string { return c.in(in).instead }

// Usage returns the command as it is typed in a client, with its arguments.
func (c *Command) Usage(in Client) string {
	if args := c.Args(in); args != "" {
		return "/" + c.Name + " " + args
	}
	return "/" + c.Name
}

func (c *Command) in(client Client) use {
	if client == Screen {
		return c.screen
	}
	return c.lines
}

func (c *Command) named(name string) bool {
	return name != "" && (c.Name == name || c.Was == name || slices.Contains(c.Aliases, name))
}

// Find returns the command of a name, an alias or a former name, and nil when there is
// none.
func Find(name string) *Command {
	all := commands()
	if i := slices.IndexFunc(all, func(c Command) bool { return c.named(name) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// For returns the commands that a client has, in the order of its help.
func For(client Client) []Command {
	return slices.DeleteFunc(commands(), func(c Command) bool { return !c.Has(client) })
}

// Beside returns the commands of a host that can be typed beside those of a client. One of the
// same name as the client's own is shown as name:source, as which the host knows it too; a
// built-in one of the host is the client's.
func Beside(client Client, host []protocol.CommandInfo) []protocol.CommandInfo {
	var out []protocol.CommandInfo
	for _, c := range host {
		if own := Find(c.Name); own != nil && own.Has(client) {
			if c.Source == protocol.CommandBuiltin {
				continue
			}
			c.Name += ":" + string(c.Source)
		}
		out = append(out, c)
	}
	return out
}

// Excess returns why a client does not run the command with args, as a sentence without its
// end; "" when it takes some, or there are none. name is how the command was typed.
func (c *Command) Excess(client Client, name, args string) string {
	if args == "" || c.Args(client) != "" {
		return ""
	}
	return "/" + name + " takes nothing after its name: remove what is there, or begin with // to send it as a message"
}

// Refusal returns why a client does not run the command, as a sentence without its end.
func (c *Command) Refusal(client Client) string {
	where := "line mode"
	if client == Screen {
		where = "the terminal UI"
	}
	text := where + " has no /" + c.Name
	if instead := c.Instead(client); instead != "" {
		text += "; " + instead
	}
	return text
}
