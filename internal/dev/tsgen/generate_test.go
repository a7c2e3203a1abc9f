package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
)

// root is the folder of the module.
const root = "../../.."

func built(t *testing.T) (*module, *source) {
	t.Helper()
	s, err := readSource(filepath.Join(root, "protocol"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := translate(s)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func TestTheTypesOfTheRepositoryAreCurrent(t *testing.T) {
	if err := run(root, true); err != nil {
		t.Error(err)
	}
}

func TestARunWritesWhatIsStaleAndLeavesWhatPeopleWrote(t *testing.T) {
	harness.Computed(t)
	module := t.TempDir()
	for _, dir := range []string{"protocol", "internal/engine/tool"} {
		if err := os.CopyFS(filepath.Join(module, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(module, true); err == nil || !strings.Contains(err.Error(), "make generate") {
		t.Errorf("missing files: %v", err)
	}
	if err := run(module, false); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(module, target)
	for name, text := range map[string]string{"gone.ts": head + "export {};\n", "mine.ts": "export {};\n", "id.ts": "changed"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(module, true); err == nil || !strings.Contains(err.Error(), "gone.ts, id.ts differ") {
		t.Errorf("changed files: %v", err)
	}
	if err := run(module, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone.ts")); !os.IsNotExist(err) {
		t.Errorf("what is not wanted any more: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "mine.ts")); err != nil || string(text) != "export {};\n" {
		t.Errorf("what a person wrote became %q", text)
	}
	if err := run(module, true); err != nil {
		t.Errorf("after a run: %v", err)
	}
}

// TestTheGeneratorRunsWhenTheProtocolDoesNotCompile: a new request lacks what is generated
// for it, so nothing that generates may import the package.
func TestTheGeneratorRunsWhenTheProtocolDoesNotCompile(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) == "scorel/protocol" {
			t.Error("the generator imports the package that it reads")
		}
	}
}

// TestAChangeOfTheProtocolMakesTheTypesStale: a new request, event, frame or field
// is seen, and so is a type that there is no TypeScript for.
func TestAChangeOfTheProtocolMakesTheTypesStale(t *testing.T) {
	harness.Computed(t)
	changes := map[string]struct{ file, old, new string }{
		"a field":               {"host.go", "Ping struct{}", "Ping struct {\n\t\tLoud bool `json:\"loud\"`\n\t}"},
		"a field left out":      {"project.go", `json:"notices,omitempty"`, `json:"notices"`},
		"a comment":             {"live.go", "// LiveTool is a call that runs.", "// LiveTool is a call that runs now."},
		"a request":             {"host.go", `Name: "ping"`, `Name: "pong"`},
		"an answer":             {"host.go", "new(Ping) }, Reply: func() Response { return new(Done)", "new(Ping) }, Reply: func() Response { return new(Status)"},
		"an event":              {"events_transient.go", `EventType = "retry"`, `EventType = "again"`},
		"a class":               {"events_persistent.go", "Type: TypeLabel, Class: Control", "Type: TypeLabel, Class: Conversation"},
		"a title":               {"events_persistent.go", `Title: "Another branch"`, `Title: "Another path"`},
		"a member there is not": {"events_persistent.go", `Text: "{summary}"`, `Text: "{sumary}"`},
		"an aspect left out":    {"events_persistent.go", `Search:  "label", `, ""},
		"a text of no member":   {"events_persistent.go", `Search:  "label"`, `Search: "name"`},
		"a usage of no member":  {"events_persistent.go", `Search:  "label", Usage: None`, `Search:  "label", Usage: "label"`},
		"a leaf of no event":    {"events_persistent.go", `Search:  "label", Usage: None, Payloads: None, Leaf: None`, `Search:  "label", Usage: None, Payloads: None, Leaf: "label"`},
		"a frame":               {"frame.go", `return "client_left"`, `return "client_gone"`},
		"a bound":               {"turn.go", `check:"required,max=MaxWord"`, `check:"max=MaxWord"`},
		"a check there is not":  {"turn.go", `check:"required,max=MaxWord"`, `check:"max=MaxWord,even"`},
		"a bound there is not":  {"turn.go", `check:"required,max=MaxWord"`, `check:"required,max=MaxWords"`},
		"a size":                {"check.go", "MaxWord     = 64", "MaxWord     = 65"},
		"a value":               {"errors.go", `"conflict"`, `"clash"`},
		"a tool's view":         {"bash.go", "View: protocol.ViewCommand", "View: protocol.ViewText"},
		"a tool":                {"glob.go", `Name: "Glob"`, `Name: "Globs"`},
		"what is no constant":   {"glob.go", `Name: "Glob"`, `Name: globName()`},
		"an untold field":       {"live.go", "Text Growing   `json:\"text\"`", "Text Growing"},
		"a type that is no use": {"live.go", "Text Growing   `json:\"text\"`", "Text complex128 `json:\"text\"`"},
	}
	want, err := generate(filepath.Join(root, "protocol"))
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range changes {
		module := t.TempDir()
		dir := filepath.Join(module, "protocol")
		names, _ := filepath.Glob(filepath.Join(root, "protocol", "*.go"))
		tools, _ := filepath.Glob(filepath.Join(root, "internal/engine/tool", "*.go"))
		for _, name := range append(names, tools...) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(name) == c.file {
				changed := strings.Replace(string(text), c.old, c.new, 1)
				if changed == string(text) {
					t.Errorf("%s: %q does not stand in %s", what, c.old, c.file)
				}
				text = []byte(changed)
			}
			to, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			to = filepath.Join(module, to)
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, text, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := generate(dir); err == nil && reflect.DeepEqual(got, want) {
			t.Errorf("%s changes nothing", what)
		}
	}
}

// TestWhatGoWritesFitsItsDeclaration holds what the marshallers write against what
// is declared: all fields of it, and no others.
func TestWhatGoWritesFitsItsDeclaration(t *testing.T) {
	m, s := built(t)
	list := samples(t, m, s)
	for _, x := range list {
		var v any
		if err := json.Unmarshal(x.data, &v); err != nil {
			t.Fatalf("%s: %v", x.what, err)
		}
		if err := x.fits(v); err != nil {
			t.Errorf("%s: %v\n%s", x.what, err, x.data)
		}
	}
	if len(list) < 4*len(m.pairs) {
		t.Errorf("only %d samples", len(list))
	}
}

func TestTheCheckOfSamplesFindsWhatDoesNotFit(t *testing.T) {
	m, _ := built(t)
	for _, bad := range []struct{ name, json string }{
		{"Question", `{"question":"q"}`},                            // a field is missing
		{"Question", `{"question":"q","options":null,"more":1}`},    // one is not declared
		{"Question", `{"question":1,"options":null}`},               // another type
		{"Question", `{"question":"q","options":[{"label":null}]}`}, // deep inside
		{"Grant", `"all"`},                                           // not of the set
		{"TextBlock", `{"type":"image","text":"t"}`},                 // another literal
		{"Message", `{"role":"user","content":[{"type":"sound"}]}`},  // in no union
		{"LabelEvent", `{"type":"label","targetEventId":"x"}`},       // without its envelope
		{"TextBlock", `{"type":"text","text":"t","redacted":false}`}, // a field of another
	} {
		var v any
		if err := json.Unmarshal([]byte(bad.json), &v); err != nil {
			t.Fatal(err)
		}
		if m.fits(v, ref(bad.name)) == nil {
			t.Errorf("%s fits %s", bad.json, bad.name)
		}
	}
}

// TestTheCompilerTakesWhatGoWrites compiles the types with a literal of everything
// that Go writes, and with literals that must not compile.
func TestTheCompilerTakesWhatGoWrites(t *testing.T) {
	tsc, err := exec.LookPath("tsc")
	if err != nil {
		t.Skip("there is no TypeScript compiler; install it (npm install -g typescript) to have the generated types compiled")
	}
	m, s := built(t)
	dir := t.TempDir()
	files, err := typescript(m)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, text []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// No literal is of a branded type: for them the brands are taken off.
	brands := regexp.MustCompile(` & \{ readonly __brand: "\w+" \}`)
	for name, text := range files {
		put("real/"+name, text)
		put("plain/"+name, brands.ReplaceAll(text, nil))
	}
	var src strings.Builder
	src.WriteString("import type * as p from \"./plain\";\n")
	for i, x := range samples(t, m, s) {
		fmt.Fprintf(&src, "export const s%d: %s = %s;\n", i, x.typ, x.data)
	}
	put("samples.ts", []byte(src.String()))
	put("use.ts", []byte(`import * as p from "./real";

export function shown(e: p.SessionEvent): string {
  switch (e.type) {
    case "message":
      return e.message.role === "assistant" ? e.message.content.map((b) => (b.type === "text" ? b.text : "")).join("") : "";
    case "text_delta":
      return e.delta;
    case "rewind":
      return e.control && e.targetEventId !== null ? e.targetEventId : "";
  }
  return "";
}

export async function call<N extends p.RequestName>(send: (c: p.Call) => Promise<unknown>, c: p.Call<N>): Promise<p.Requests[N]["response"]> {
  const reply = (await send(c as p.Call)) as p.Reply<N>;
  if (reply.type === "error") {
    throw new Error(reply.code + reply.message);
  }
  return reply.data;
}

export async function models(requestId: p.RequestID, send: (c: p.Call) => Promise<unknown>): Promise<string[]> {
  const list = await call(send, { type: "list_models", requestId, query: "x" });
  return (list.models ?? []).map((m) => m.ref + m.hasKey);
}

export const may: p.Grant = p.needs.list_models;
export const first: p.Code = p.codeValues[0];
export const version: 1 = p.protocolVersion;

// @ts-expect-error an id of another kind is none
export const wrongID = (id: p.SessionID): p.EventID => id;
// @ts-expect-error a text is no id
export const noID: p.SessionID = "ses_x";
// @ts-expect-error there is no such request
export const noRequest: p.RequestName = "make_coffee";
// @ts-expect-error a field of another request
export const wrongField: p.Call<"ping"> = { type: "ping", requestId: "" as p.RequestID, query: "x" };
// @ts-expect-error a required field is missing
export const missing: p.Call<"cancel"> = { type: "cancel", requestId: "" as p.RequestID };
// @ts-expect-error no such code
export const noCode: p.Code = "oops";
// @ts-expect-error a delta has no message
export const noMessage = (e: p.TextDeltaEvent) => e.message;
`))
	config, err := os.ReadFile(filepath.Join(root, "web", "tsconfig.json"))
	if err != nil {
		t.Fatal(err)
	}
	put("tsconfig.json", bytes.Replace(config, []byte(`"include": ["src"]`), []byte(`"include": ["**/*.ts"]`), 1))
	cmd := exec.Command(tsc, "--project", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%.4000s", err, out)
	}
}
