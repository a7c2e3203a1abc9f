package manpage

import (
	"bytes"
	"testing"
)

func TestTextOfTheManualIsNoRequest(t *testing.T) {
	for line, want := range map[string]string{
		".SH evil": `\&.SH evil`, "'br": `\&\(aqbr`, `a\fBb`: `a\efBb`, "--x ~ ^ `": "\\-\\-x \\(ti \\(ha \\`", "…": `\[u2026]`, "plain": "plain",
	} {
		if got := Roff(line); got != want {
			t.Errorf("%q gives %q, want %q", line, got, want)
		}
	}
	if got := Quoted(`say "x"`); got != `"say \(dqx\(dq"` {
		t.Error(got)
	}
	var b bytes.Buffer
	text(&b, "One.\n\n    code -x\n    more\n\nTwo.\n\n    end")
	if want := "One.\n.PP\n.nf\n    code \\-x\n    more\n.fi\n.PP\nTwo.\n.PP\n.nf\n    end\n.fi\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
