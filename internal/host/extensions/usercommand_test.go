package extensions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestExtensionJudgesCommandsOfAPerson(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	w.Ts("guard", noting(w)+`export default function (pi: any) {
  pi.on("user_bash", (e: any) => {
    note([e.command, e.excludeFromContext, e.cwd === process.cwd()].join(" "));
    if (e.command.includes("refused")) return { block: true, reason: "not on Fridays" };
    if (e.command.includes("answered")) return { result: { output: "from elsewhere", exitCode: 3 } };
    if (e.command.includes("fails")) throw new Error("no idea");
    if (e.command.includes("long")) return { result: { output: "x".repeat(100000) + "end" } };
    if (e.command.includes("remote")) return { operations: {
      async exec(command: string, cwd: string, { onData, signal }: any) {
        onData(Buffer.from("ran " + command.slice(0, 6)));
        onData(" away");
        return { exitCode: 4 };
      },
    } };
  });
}`)
	e := w.Begin(false) // nothing has run: the command starts the extensions
	run := func(word string) (failed, output string, code int) {
		t.Helper()
		r, out := e.Shell("touch "+word+"; echo here", true)
		if r.ExitCode != nil {
			code = *r.ExitCode
		}
		_, err := os.Stat(filepath.Join(w.Project, word))
		if ran := err == nil; ran != (word == "plain") {
			t.Errorf("%s: ran is %v", word, ran)
		}
		return r.Failed, out, code
	}
	if failed, out, _ := run("plain"); failed != "" || !strings.Contains(out, "here") {
		t.Errorf("plain: %q %q", failed, out)
	}
	if failed, out, _ := run("refused"); failed != "extension guard refused it: not on Fridays" || !strings.Contains(out, "not on Fridays") {
		t.Errorf("refused: %q %q", failed, out)
	}
	if failed, out, code := run("answered"); failed != "" || code != 3 || out != "[The extension guard answered in place of the command.]\nfrom elsewhere" {
		t.Errorf("answered: %q %q %d", failed, out, code)
	}
	if failed, _, _ := run("fails"); !strings.Contains(failed, "no idea") {
		t.Errorf("fails: %q", failed)
	}
	if failed, out, code := run("remote"); failed != "" || code != 4 || !strings.HasSuffix(out, "ran touch  away") {
		t.Errorf("remote: %q %q %d", failed, out, code)
	}
	if _, out, _ := run("long"); len(out) > 40_000 || !strings.HasSuffix(out, "end") || !strings.Contains(out, "bytes left out") {
		t.Errorf("long: %d bytes", len(out))
	}
	e.Say("what did I run?")
	if body := string(w.Bodies()[0]); !strings.Contains(body, "answered in place of the command") || !strings.Contains(body, "not on Fridays") {
		t.Errorf("the model is told %s", body)
	}
	noteIs(t, w, "touch plain; echo here false true")
}

func TestResultThatTerminatesEndsTheTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"if":{"user":"one"},"do":[{"call":"answer","id":"c1","input":{"end":true}}]}`,
		`{"if":{"user":"two"},"do":[{"call":"answer","id":"c2","input":{"end":true}},{"call":"answer","id":"c3","input":{}}]}`,
		`{"if":{"user":"three"},"do":[{"call":"answer","id":"c4","input":{"end":true,"fail":true}}]}`,
		`{"again":true,"do":[{"text":"ok"}]}`)
	w.Ts("answers", `export default function (pi: any) {
  pi.registerTool({ name: "answer", description: "Answers.", kind: "read", parameters: { type: "object", properties: { end: { type: "boolean" }, fail: { type: "boolean" } } },
    async execute(_id: string, { end, fail }: any) {
      return { content: [{ type: "text", text: "the answer" }], details: {}, terminate: end === true, isError: fail === true };
    } });
}`)
	e := w.Begin(false)
	for i, c := range []struct {
		say      string
		requests int
	}{{"one", 1}, {"two", 2}, {"three", 2}, {"four", 1}} {
		before := len(w.Bodies())
		if end := e.Say(c.say); end.Reason != "completed" {
			t.Errorf("%s ends with %+v", c.say, end)
		}
		if n := len(w.Bodies()) - before; n != c.requests {
			t.Errorf("turn %d made %d requests, not %d", i+1, n, c.requests)
		}
	}
}

func TestExtensionThatCannotBeStartedIsNamedWithItsPlace(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	dir := filepath.Join(w.Home, ".scorel", "extensions")
	for name, text := range map[string]string{
		"throws.ts":                      "export default function () {\n  (undefined as any).name;\n}\n",
		"syntax.ts":                      "export default function () {\n  const a = ;\n}\n",
		"text.ts":                        "export default async function () {\n  throw \"just words\";\n}\n",
		"empty.ts":                       "export const a = 1;\n",
		"module.ts":                      "import { connect } from \"node:dns\";\nexport default () => connect();\n",
		"manifest/scorel.extension.json": "{\n  \"id\": \"manifest\",\n  \"kinds\": \"process\"\n}\n",
		"cut/scorel.extension.json":      "{\n  \"id\": \"cut\",\n",
		"pkg/package.json":               "{\n  \"pi\": {\"extensions\": [\n    \"./gone.ts\"]}\n}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := w.Begin(false)
	e.Say("hello")
	told := notices(e)
	for id, place := range map[string]string{"throws": "throws.ts:2:", "syntax": "syntax.ts:2:13:", "text": "text.ts: just words", "empty": "empty.ts: The file exports no extension",
		"module": "module.ts:1:", "manifest": `scorel.extension.json:3: unknown field "kinds"`, "cut": "scorel.extension.json:2: the file ends too early", "pkg": "(package.json:3)"} {
		line := ""
		for _, l := range told {
			if strings.HasPrefix(l, fmt.Sprintf("The extension %s is not loaded: ", id)) {
				line += l + "\n"
			}
		}
		if !strings.Contains(line, place) || strings.Count(line, "\n") > 1 {
			t.Errorf("%s: %q does not name %q once", id, line, place)
		}
	}
	e.Say("again")
	if n := strings.Count(strings.Join(notices(e), "\n"), "is not loaded"); n != 0 {
		t.Errorf("people are told %d times again", n)
	}
}

// notices are those that people were shown.
func notices(e *hosttest.Entry) (out []string) {
	for _, ev := range e.Events {
		if n, ok := ev.Body.(*protocol.Notice); ok {
			out = append(out, n.Text)
		}
	}
	return out
}
