package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNamesOfAProjectCannotSteerTheTerminal(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(base, "p\x1b[2J\u202eq")
	for name, text := range map[string]string{
		".scorel/skills/a\x1b[31mb/SKILL.md": "---\nentry: \x1b]0;title\x07run\n---", ".scorel/skills/a\x1b[31mb/x\ny\u202e.sh": "",
		".scorel/agents/\x1b[1A\x1b[2K.md": "x", ".scorel/config.toml": "prompt = \"\\u001b[5mhi\"\n",
	} {
		full := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"trust", project}, {"trust", "--yes", "--hash", "0", project}, {"trust", "revoke", project}, {"config", "check", "--cwd", project},
		{"doctor", "--cwd", project}, {"-p", "--model", "demo", "--cwd", project, "hi"}, {"trust", project + "/none"},
		{"-p", "--model", "demo", "--cwd", base, "see @a\x1b[2J\u202e.txt"}} {
		var out, errOut bytes.Buffer
		a := &app{stdout: &out, stderr: &errOut, environ: []string{"HOME=" + base, "PATH=" + os.Getenv("PATH")}, pace: -1}
		a.run(t.Context(), args)
		all := out.String() + errOut.String()
		if strings.ContainsAny(all, "\x1b\x07\u202e") || len(all) == 0 {
			t.Errorf("%.60q prints %q", args, all)
		}
	}
}
