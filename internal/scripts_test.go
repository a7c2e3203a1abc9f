package internal

import (
	"os/exec"
	"strings"
	"testing"
)

func TestARedRunNamesEachFailedTestAndTheCommandThatRepeatsIt(t *testing.T) {
	printed := strings.Join([]string{
		"ok  \tscorel/client\t1.2s",
		"--- FAIL: TestA (0.01s)",
		"    --- FAIL: TestA/one_(two)'s (0.00s)",
		"        x_test.go:1: no",
		"    --- PASS: TestA/b (0.00s)",
		"--- FAIL: TestB (0.00s)",
		"FAIL",
		"FAIL\tscorel/internal/host\t0.012s",
		"# scorel/internal/x",
		"internal/x/x.go:1:1: bad",
		"FAIL\tscorel/internal/x [build failed]",
		"panic: test timed out after 1s",
		"\trunning tests:",
		"\t\tTestHangs (1s)",
		"\t\tTestHangs/too (1s)",
		"",
		"goroutine 1:",
		"FAIL\tscorel/internal/y\t1.0s",
		"-- internal/z FuzzIt",
		"a bad input",
		"FAIL",
		" ❯ src/app/host/connect.page.test.ts (2 tests | 1 failed)",
		"\x1b[41m FAIL \x1b[49m src/app/host/connect.page.test.ts\x1b[2m > \x1b[22ma browser comes in", ""}, "\n")
	want := strings.Join([]string{
		`failed: ./internal/host TestA/one_(two)'s`,
		`        go test -race -count=1 -run '^TestA$/^one_\(two\)'\''s$' ./internal/host`,
		`failed: ./internal/host TestB`,
		`        go test -race -count=1 -run '^TestB$' ./internal/host`,
		`failed: ./internal/x`,
		`        go test -race -count=1 ./internal/x`,
		`failed: ./internal/y TestHangs/too`,
		`        go test -race -count=1 -run '^TestHangs$/^too$' ./internal/y`,
		`failed: ./internal/z FuzzIt`,
		`        go test -run '^FuzzIt$' -fuzz '^FuzzIt$' ./internal/z`,
		`failed: web/src/app/host/connect.page.test.ts > a browser comes in`,
		`        npm test --prefix web -- src/app/host/connect.page.test.ts`, ""}, "\n")
	awk := exec.Command("awk", "-v", "race=-race", "-f", "../scripts/failed.awk")
	awk.Stdin = strings.NewReader(printed)
	out, err := awk.CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

func TestWhatIsComputedWithoutTheRaceDetectorIsFoundByItsFirstLine(t *testing.T) {
	out, err := exec.Command("git", "-C", "..", "grep", "-h", "-B1", "harness.Computed(t)", "--", "*_test.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	before := ""
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) == "harness.Computed(t)" && !strings.HasPrefix(before, "func Test") {
			t.Errorf("scripts/test.sh does not run what calls harness.Computed after %q", before)
		}
		before = line
	}
}
