package tool

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// BenchmarkSearch looks through 1,000 files of 13 KB, a tenth of them ignored.
func BenchmarkSearch(b *testing.B) {
	bench := newBench(b)
	body := strings.Repeat("func lookUp(name string) (value int, ok bool) { return table[name] }\n", 200)
	for i := range 1000 {
		bench.write(fmt.Sprintf("pkg%d/sub%d/file%d.go", i%10, i%50, i), body+fmt.Sprintf("// needle%d\n", i))
	}
	bench.write(".git/HEAD", "ref: refs/heads/main\n")
	bench.write(".gitignore", "*.o\n/build/\npkg7/\n")
	rg, _ := exec.LookPath("rg")
	for _, engine := range []string{"", rg} {
		bench.env.Ripgrep = engine
		for tool, input := range map[string]in{"Glob": {"pattern": "**/*9.go"}, "Grep": {"pattern": "needle99\\b"}} {
			b.Run(fmt.Sprintf("%s/ripgrep=%v", tool, engine != ""), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					bench.ok(tool, input)
				}
			})
		}
	}
}

// BenchmarkBash is a whole call, next to the plain start of bash.
func BenchmarkBash(b *testing.B) {
	bench := newBench(b)
	b.Run("call", func(b *testing.B) {
		for b.Loop() {
			bench.ok("Bash", in{"command": "true"})
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("bash", "--noprofile", "--norc", "-c", "true")
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
