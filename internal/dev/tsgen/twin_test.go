package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"scorel/protocol"
)

// TestTheTwinShowsEventsAsGoDoes runs the TypeScript that makes items of events over the
// cases that package display is held against.
func TestTheTwinShowsEventsAsGoDoes(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node is not installed, so the TypeScript twin of package display is not run")
	}
	web, err := filepath.Abs(filepath.Join(root, "web", "src"))
	if err != nil {
		t.Fatal(err)
	}
	built := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{Loader: api.LoaderTS, ResolveDir: web, Contents: `
			import { readFileSync } from "node:fs";
			import { itemOf } from "./display";
			const cases = JSON.parse(readFileSync(0, "utf8"));
			process.stdout.write(JSON.stringify(cases.map((c) => itemOf(c.event) ?? null)));`},
		Bundle: true, Platform: api.PlatformNode, Format: api.FormatCommonJS, LogLevel: api.LogLevelSilent,
	})
	if len(built.Errors) > 0 || len(built.OutputFiles) != 1 {
		t.Fatalf("the twin is not built: %+v", built.Errors)
	}
	script := filepath.Join(t.TempDir(), "twin.cjs")
	if err := os.WriteFile(script, built.OutputFiles[0].Contents, 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(web, "display", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Event json.RawMessage
		Item  any
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	// An event that a view shows has no item in the twin, and one of a later version is hidden.
	views := `{"event":{"type":"message"}},{"event":{"type":"later"}},{"event":{"type":"toString"}}]`
	input, err := os.CreateTemp(t.TempDir(), "cases")
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	end := len(data) - len("\n]\n")
	if _, err := input.WriteString(string(data[:end]) + ",\n" + views); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, script)
	cmd.Stdin, cmd.Stderr = input, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var items []any
	if err := json.Unmarshal(out, &items); err != nil {
		t.Fatalf("%v: %.400s", err, out)
	}
	if len(cases) < 80 || len(items) != len(cases)+3 {
		t.Fatalf("%d items of %d cases", len(items), len(cases))
	}
	for i, c := range cases {
		if !reflect.DeepEqual(items[i], c.Item) {
			t.Errorf("%s\nis shown as  %v\nand by Go as %v", c.Event, items[i], c.Item)
		}
	}
	hidden := map[string]any{"kind": "hidden"}
	if rest := items[len(cases):]; rest[0] != nil || !reflect.DeepEqual(rest[1], hidden) || !reflect.DeepEqual(rest[2], hidden) {
		t.Errorf("a message, and what is not known, are shown as %v", rest)
	}
}

// TestTheTwinShowsTheTargetsOfCallsAsGoDoes compares targetOf with [protocol.Target].
func TestTheTwinShowsTheTargetsOfCallsAsGoDoes(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node is not installed, so the TypeScript twin of package display is not run")
	}
	web, err := filepath.Abs(filepath.Join(root, "web", "src"))
	if err != nil {
		t.Fatal(err)
	}
	calls := [][2]string{
		{"ExecuteExtraTool", `{"tool_name":"mcp__a__b","params":{"x":1}}`}, {"ExecuteExtraTool", `{"tool_name":"mcp__a__b"}`},
		{"ExecuteExtraTool", `{"tool_name":7,"params":{}}`}, {"ExecuteExtraTool", `{}`}, {"Bash", `{"command":"ls","tool_name":"x"}`}, {"toString", `{}`},
	}
	var want []any
	source := `import { targetOf } from "./display"; process.stdout.write(JSON.stringify([`
	for _, c := range calls {
		name, input := protocol.Target(c[0], json.RawMessage(c[1]))
		var v any
		if err := json.Unmarshal(input, &v); err != nil {
			t.Fatal(err)
		}
		want = append(want, map[string]any{"name": name, "input": v})
		source += fmt.Sprintf("targetOf(%q, %s), ", c[0], c[1])
	}
	built := api.Build(api.BuildOptions{Stdin: &api.StdinOptions{Loader: api.LoaderTS, ResolveDir: web, Contents: source + "]));"},
		Bundle: true, Platform: api.PlatformNode, Format: api.FormatCommonJS, LogLevel: api.LogLevelSilent})
	if len(built.Errors) > 0 || len(built.OutputFiles) != 1 {
		t.Fatalf("the twin is not built: %+v", built.Errors)
	}
	script := filepath.Join(t.TempDir(), "target.cjs")
	if err := os.WriteFile(script, built.OutputFiles[0].Contents, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, script).Output()
	var got []any
	if err != nil || json.Unmarshal(out, &got) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %s\nwant %v", err, out, want)
	}
}

// TestTheCompilerTakesWhatPeopleWrote compiles all TypeScript of the repository.
func TestTheCompilerTakesWhatPeopleWrote(t *testing.T) {
	tsc, err := exec.LookPath("tsc")
	if err != nil {
		t.Skip("there is no TypeScript compiler; install it (npm install -g typescript) to have what is in web compiled")
	}
	if out, err := exec.Command(tsc, "--project", filepath.Join(root, "web")).CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%.4000s", err, out)
	}
}
