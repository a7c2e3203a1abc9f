package cli

import (
	"bufio"
	"fmt"
	"io"
	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long: `Prints the manual page as roff, with every command and flag.

    scorel man | man -l -
    scorel man > ~/.local/share/man/man1/scorel.1`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return writeMan(a.stdout, cmd.Root()) },
	}
}

// writeMan writes the manual page of a tree of commands (man(7)).
func writeMan(to io.Writer, root *cobra.Command) error {
	w := bufio.NewWriter(to)
	name := root.Name()
	fmt.Fprintf(w, ".TH %s 1 \"\" \"%s %s\" \"User Commands\"\n", strings.ToUpper(name), name, Version)
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", name, roff(root.Short))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B %s\n[options] [prompt]\n.br\n.B %s\n.I command\n[options]\n", name, name)
	fmt.Fprint(w, ".SH DESCRIPTION\n")
	manText(w, root.Long)
	fmt.Fprint(w, ".SH OPTIONS\n")
	manFlags(w, root)
	fmt.Fprint(w, ".SH COMMANDS\n")
	manCommands(w, root)
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, c := range []struct {
		code int
		what string
	}{{exit.OK, "It worked."}, {exit.Failed, "A provider or the storage failed, or a check did."}, {exit.Usage, "The command line or the configuration is wrong."},
		{exit.Limit, "A limit ended the run. Of extensions check: the extension uses what Scorel lacks."}, {exit.Unasked, "Something was needed that nobody could be asked for."},
		{exit.Loop, "The model repeated itself, and nobody let it continue."}, {exit.Misfit, "No answer fits the schema of --json-schema."}, {daemon.PermanentExit, "A host that is supervised cannot run as it is set up; it is not started again."}, {exit.Cancelled, "Interrupted."},
		{exit.Pipe, "Nobody reads the output any more."}} {
		fmt.Fprintf(w, ".TP\n.B %d\n%s\n", c.code, roff(c.what))
	}
	fmt.Fprint(w, ".SH FILES\n")
	for _, f := range [][2]string{{"~/.scorel/config.toml", "Your configuration."}, {"~/.scorel/sessions/", "The logs of all conversations."},
		{"~/.scorel/host.json", "Where the host of this machine listens."}, {"~/.scorel/host.header", "Its token, as a header line for scripts."}, {"~/.scorel/host.log", "Its log."},
		{"~/.scorel/trust.json", "The folders that you trust."}, {"~/.scorel/rules.json", "The permissions that you answered \"always\"."}, {"~/.scorel/mcp.json", "Your MCP servers."}, {"~/.scorel/mcp-serve.header", "The token of scorel mcp serve --http, as a header line."},
		{".scorel/config.toml", "The configuration of a project."}, {"AGENTS.md", "Instructions of a project."}} {
		fmt.Fprintf(w, ".TP\n.I %s\n%s\n", roff(f[0]), roff(f[1]))
	}
	return w.Flush()
}

// manCommands writes the commands below cmd, and those below them.
func manCommands(w io.Writer, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" {
			continue
		}
		fmt.Fprintf(w, ".SS %s\n%s.\n", roffQuoted(sub.CommandPath()), roff(sub.Short))
		if sub.Runnable() {
			fmt.Fprintf(w, ".PP\n.B %s\n", roffQuoted(strings.TrimSuffix(sub.UseLine(), " [flags]")))
		}
		if sub.Long != "" {
			fmt.Fprint(w, ".PP\n")
			manText(w, sub.Long)
		}
		manFlags(w, sub)
		manCommands(w, sub)
	}
}

// manFlags writes the flags of one command.
func manFlags(w io.Writer, cmd *cobra.Command) {
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
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roffQuoted(names), roff(usage))
	})
}

// manText writes paragraphs; indented lines stay as they are.
func manText(w io.Writer, text string) {
	verbatim := false
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
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
		fmt.Fprintln(w, roff(line))
	}
	if verbatim {
		fmt.Fprint(w, ".fi\n")
	}
}

// roff writes a line of text so that nothing of it is taken for a request or an
// escape (groff_char(7)).
func roff(line string) string {
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

// roffQuoted is roff as one argument of a request.
func roffQuoted(line string) string { return `"` + strings.ReplaceAll(roff(line), `"`, `\(dq`) + `"` }
