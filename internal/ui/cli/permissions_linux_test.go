package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/ui/exit"
)

func TestOnlyRulesThatAPersonAcceptsAreImported(t *testing.T) {
	const read, test = `"Read(/usr/share/**)"`, `"Bash(npm run test:*)"`
	for answers, want := range map[string]string{ // the user's file is asked about first
		"y\nn\n":   read,
		"n\nYES\n": test,
		"y\ny\n":   read + ", " + test,
		"y\nq\n":   read,
		"q\ny\n":   "",
		"\nyep\n":  "",
		"\x04":     "",
	} {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		project := filepath.Join(base, "project")
		for name, text := range map[string]string{
			"project/.claude/settings.json": `{"permissions":{"allow":["Bash(npm run test:*)","Bash(npm*)"]}}`,
			".claude/settings.json":         `{"permissions":{"allow":["Read(//usr/share/**)"]}}`,
		} {
			full := filepath.Join(base, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		person, program := terminal(t)
		if _, err := person.WriteString(answers); err != nil {
			t.Fatal(err)
		}
		a := &app{stdin: program, stdout: program, stderr: program, environ: []string{"HOME=" + base}}
		code := a.run(t.Context(), []string{"permissions", "import", project})
		data, err := os.ReadFile(filepath.Join(base, ".scorel", "rules.json"))
		got := strings.Join(strings.Fields(string(data)), " ")
		if code != exit.OK || want == "" && err == nil || want != "" && !strings.Contains(got, `"allow": [ `+want+" ]") {
			t.Errorf("%q: exit %d, stored %s (%v), want %s", answers, code, got, err, want)
		}
		if _, err := os.Stat(filepath.Join(base, ".scorel", "trust.json")); err == nil {
			t.Errorf("%q: the project is trusted", answers)
		}
	}
}
