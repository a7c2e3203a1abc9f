// Package manpage writes the manual page of the program, from its tree of commands.
package manpage

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
)

// Write writes the manual page of a tree of commands of a version (man(7)).
func Write(to io.Writer, root *cobra.Command, version string) error {
	w := bufio.NewWriter(to)
	name := root.Name()
	fmt.Fprintf(w, ".TH %s 1 \"\" \"%s %s\" \"User Commands\"\n", strings.ToUpper(name), name, version)
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", name, Roff(root.Short))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B %s\n[options] [prompt]\n.br\n.B %s\n.I command\n[options]\n", name, name)
	fmt.Fprint(w, ".SH DESCRIPTION\n")
	text(w, root.Long)
	fmt.Fprint(w, ".SH OPTIONS\n")
	flags(w, root)
	fmt.Fprint(w, ".SH COMMANDS\n")
	commands(w, root)
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, c := range []struct {
		code int
		what string
	}{{exit.OK, "It worked."}, {exit.Failed, "A provider or the storage failed, or a check did, or a file was not restored."}, {exit.Usage, "The command line or the configuration is wrong."},
		{exit.Limit, "A limit ended the run. Of extensions check: the extension uses what Scorel lacks."}, {exit.Unasked, "Something was needed that nobody could be asked for, or a hook or an extension refused the message."},
		{exit.Loop, "The model repeated itself, and nobody let it continue."}, {exit.Misfit, "No answer fits the schema of --json-schema."}, {daemon.PermanentExit, "A host that is supervised cannot run as it is set up; it is not started again."}, {exit.Cancelled, "Interrupted."},
		{exit.Pipe, "Nobody reads the output any more."}} {
		fmt.Fprintf(w, ".TP\n.B %d\n%s\n", c.code, Roff(c.what))
	}
	fmt.Fprint(w, ".SH FILES\n")
	for _, f := range [][2]string{{"~/.scorel/config.toml", "Your configuration."}, {"~/.scorel/sessions/", "The logs of all conversations."},
		{"~/.scorel/host.json", "Where the host of this machine listens."}, {"~/.scorel/host.header", "Its token, as a header line for scripts."}, {"~/.scorel/host.log", "Its log."},
		{"~/.scorel/trust.json", "The folders that you trust."}, {"~/.scorel/rules.json", "The permissions that you answered \"always\"."}, {"~/.scorel/mcp.json", "Your MCP servers."}, {"~/.scorel/mcp-serve.header", "The token of scorel mcp serve --http, as a header line."},
		{".scorel/config.toml", "The configuration of a project."}, {"AGENTS.md", "Instructions of a project."}} {
		fmt.Fprintf(w, ".TP\n.I %s\n%s\n", Roff(f[0]), Roff(f[1]))
	}
	return w.Flush()
}

// commands writes the commands below cmd, and those below them.
func commands(w io.Writer, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" {
			continue
		}
		fmt.Fprintf(w, ".SS %s\n%s.\n", Quoted(sub.CommandPath()), Roff(sub.Short))
		if sub.Runnable() {
			fmt.Fprintf(w, ".PP\n.B %s\n", Quoted(strings.TrimSuffix(sub.UseLine(), " [flags]")))
		}
		if sub.Long != "" {
			fmt.Fprint(w, ".PP\n")
			text(w, sub.Long)
		}
		flags(w, sub)
		commands(w, sub)
	}
}

// flags writes the flags of one command.
func flags(w io.Writer, cmd *cobra.Command) {
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			names += " " + value
		}
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", Quoted(names), Roff(usage))
	})
}

// text writes paragraphs; indented lines stay as they are.
func text(w io.Writer, long string) {
	verbatim := false
	for line := range strings.SplitSeq(strings.TrimRight(long, "\n"), "\n") {
		indented := strings.HasPrefix(line, "    ")
		switch {
		case line == "" && verbatim:
			continue
		case line == "":
			fmt.Fprint(w, ".PP\n")
			continue
		case indented && !verbatim:
			fmt.Fprint(w, ".nf\n")
		case !indented && verbatim:
			fmt.Fprint(w, ".fi\n.PP\n")
		}
		verbatim = indented
		fmt.Fprintln(w, Roff(line))
	}
	if verbatim {
		fmt.Fprint(w, ".fi\n")
	}
}

// Roff writes a line of text so that nothing of it is taken for a request or an
// escape (groff_char(7)).
func Roff(line string) string {
	var b strings.Builder
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		b.WriteString(`\&`)
	}
	for _, r := range line {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString("\\`")
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r >= 0x80:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Quoted is [Roff] as one argument of a request.
func Quoted(line string) string { return `"` + strings.ReplaceAll(Roff(line), `"`, `\(dq`) + `"` }
