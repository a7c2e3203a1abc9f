package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scorel/internal/ui/cli/manpage"
)

func TestTheManualHasEveryCommandAndFlag(t *testing.T) {
	var b bytes.Buffer
	root := (&app{}).command()
	if err := manpage.Write(&b, root, Version); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	n := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Hidden {
			return
		}
		if cmd != root && !strings.Contains(page, "\n.SS "+manpage.Quoted(cmd.CommandPath())+"\n") {
			t.Errorf("%s is missing", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if n++; !f.Hidden && f.Name != "help" && !strings.Contains(page, manpage.Roff("--"+f.Name)) {
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
