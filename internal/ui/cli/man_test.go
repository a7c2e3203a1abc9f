package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestTheManualHasEveryCommandAndFlag(t *testing.T) {
	var b bytes.Buffer
	root := (&app{}).command()
	if err := writeMan(&b, root); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	n := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Hidden {
			return
		}
		if cmd != root && !strings.Contains(page, "\n.SS "+roffQuoted(cmd.CommandPath())+"\n") {
			t.Errorf("%s is missing", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if n++; !f.Hidden && f.Name != "help" && !strings.Contains(page, roff("--"+f.Name)) {
				t.Errorf("%s --%s is missing", cmd.CommandPath(), f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if n < 20 {
		t.Errorf("only %d flags were looked for", n)
	}
}

func TestTextOfTheManualIsNoRequest(t *testing.T) {
	for text, want := range map[string]string{
		".SH evil": `\&.SH evil`, "'br": `\&\(aqbr`, `a\fBb`: `a\efBb`, "--x ~ ^ `": "\\-\\-x \\(ti \\(ha \\`", "…": `\[u2026]`, "plain": "plain",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if got := roffQuoted(`say "x"`); got != `"say \(dqx\(dq"` {
		t.Error(got)
	}
	var b bytes.Buffer
	manText(&b, "One.\n\n    code -x\n    more\n\nTwo.\n\n    end")
	if want := "One.\n.PP\n.nf\n    code \\-x\n    more\n.fi\n.PP\nTwo.\n.PP\n.nf\n    end\n.fi\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
