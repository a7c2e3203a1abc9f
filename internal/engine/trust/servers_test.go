package trust

import (
	"fmt"
	"strings"
	"testing"

	mcp "scorel/internal/engine/mcp/config"
)

// entry is the one of a name in a project's file.
func entry(t *testing.T, file, text, name string) mcp.Entry {
	t.Helper()
	e, ok := mcp.Merge(mcp.Sources{Project: []mcp.File{{Name: file, Data: []byte(text)}}}).Lookup(name)
	if !ok {
		t.Fatalf("there is no %s in %s", name, text)
	}
	return e
}

func TestTheServersOfAllFilesAreShownWithWhatTheyRunAndGet(t *testing.T) {
	w := newWorld(t, map[string]string{
		".scorel/mcp.json": `{"mcpServers":{"db":{"command":"./bin/db","args":["--dsn","${DB_DSN}"],"cwd":"tools","envFile":".env"}}}`,
		".mcp.json":        `{"mcpServers":{"wiki":{"type":"http","url":"https://wiki.example/mcp?k=${ANTHROPIC_API_KEY}","headersHelper":"sh tools/token.sh","headers":{"X-A":"$TEAM"}}}}`,
		".cursor/mcp.json": `{"mcpServers":{"c":{"command":"node","args":["${workspaceFolder}/tools/c.js"]}}}`,
		".vscode/mcp.json": `{"servers":{"v":{"type":"stdio","command":"bash","args":["-c","cd tools && ./v.sh"]}}}`,
		"bin/db":           "1", ".env": "A=1", "tools/token.sh": "2", "tools/c.js": "3", "tools/v.sh": "4", "tools/unnamed.sh": "5",
	})
	r := w.look()
	same(t, "items", states(r),
		"mcp .cursor/mcp.json untrusted", "mcp .mcp.json untrusted", "mcp .scorel/mcp.json untrusted", "mcp .vscode/mcp.json untrusted",
		"program .env untrusted", "program bin/db untrusted", "program tools/c.js untrusted", "program tools/token.sh untrusted", "program tools/v.sh untrusted")
	for name, want := range map[string]string{
		".scorel/mcp.json": "they get of your environment: DB_DSN|db starts (reads .env; works in tools): ./bin/db --dsn ${DB_DSN}",
		".mcp.json":        "they get of your environment: ANTHROPIC_API_KEY, TEAM|wiki connects to wiki.example (sends X-A): https://wiki.example/mcp?k=${ANTHROPIC_API_KEY}|wiki runs for its headers: sh tools/token.sh",
		".cursor/mcp.json": "c starts: node ${workspaceFolder}/tools/c.js",
	} {
		if got := strings.Join(r.Find(KindMCP, name).Does, "|"); got != want {
			t.Errorf("%s does\n%s, want\n%s", name, got, want)
		}
	}
	if got := r.Find(KindProgram, "tools/token.sh").Does; fmt.Sprint(got) != "[is named by wiki]" {
		t.Errorf("%v", got)
	}
}

func TestAServerIsUsedAsItWasTrustedAndNotOtherwise(t *testing.T) {
	const text = `{"mcpServers":{"db":{"command":"sh","args":["tools/db.sh"]},"two":{"command":"other"}}}`
	w := newWorld(t, map[string]string{".mcp.json": text, "tools/db.sh": "1"})
	db := entry(t, ".mcp.json", text, "db")
	check := func(what, want string) {
		t.Helper()
		got, err := w.s.ChangedServer(w.root, ".mcp.json", db)
		if err != nil || want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	check("before trust", "you have not trusted")
	w.trust()
	check("trusted", "")
	w.write("tools/db.sh", "echo evil")
	check("a changed program", "its command names tools/db.sh, which has changed")
	if it := w.look().Find(KindProgram, "tools/db.sh"); it.Status != StatusChanged {
		t.Errorf("%+v", it)
	}
	w.trust()
	check("trusted again", "")
	changed := strings.Replace(text, "tools/db.sh", "tools/db.sh\",\"--evil", 1)
	w.write(".mcp.json", changed)
	check("a changed file", "you have not trusted")
	if it := w.look().Find(KindMCP, ".mcp.json"); it.Status != StatusChanged {
		t.Errorf("%+v", it)
	}
	w.trust()
	check("an entry that was there before", "its entry in .mcp.json has changed")
	db = entry(t, ".mcp.json", changed, "db")
	check("the new entry", "")
	if _, _, err := w.s.Revoke(w.root); err != nil {
		t.Fatal(err)
	}
	check("revoked", "you have not trusted")
}

func TestWhatAServerStartsIsShownToTheLastCharacter(t *testing.T) {
	w := newWorld(t, map[string]string{".mcp.json": "{\"mcpServers\":{\"a\":{\"command\":\"ru\u200dn\",\"args\":[\"x\u28004\"]}}}"})
	if it := w.look().Find(KindMCP, ".mcp.json"); !strings.Contains(strings.Join(it.Does, "\n"), "ru[U+200D]n x[U+2800]4") {
		t.Errorf("%q", it.Does)
	}
}

// TestWhatCannotBeShownCannotBeTrusted: a file must not hide a server, a variable or a
// program among others.
func TestWhatCannotBeShownCannotBeTrusted(t *testing.T) {
	var many, variables, files []string
	for i := range 60 {
		many = append(many, fmt.Sprintf(`"s%d":{"command":"x"}`, i))
		variables = append(variables, fmt.Sprintf(`"${SOME_LONG_NAME_%d}"`, i))
		files = append(files, fmt.Sprintf(`"f%d"`, i), fmt.Sprintf(`"g%d"`, i))
	}
	w := newWorld(t, map[string]string{
		".scorel/mcp.json": `{"mcpServers":{` + strings.Join(many, ",") + `}}`,
		".mcp.json":        `{"mcpServers":{"a":{"command":"x","args":[` + strings.Join(variables, ",") + `]}}}`,
		".cursor/mcp.json": `{"mcpServers":{"a":{"command":"x","args":[` + strings.Join(files, ",") + `]}}}`,
	})
	for i := range 60 {
		w.write(fmt.Sprintf("f%d", i), "1")
		w.write(fmt.Sprintf("g%d", i), "1")
	}
	r := w.look()
	for name, want := range map[string]string{".scorel/mcp.json": "more than 30 servers", ".mcp.json": "more variables", ".cursor/mcp.json": "more than 100 files"} {
		if it := r.Find(KindMCP, name); !strings.Contains(it.Problem, want) || len(it.Files) > 0 {
			t.Errorf("%s: %+v", name, it)
		}
	}
	if it := w.trust().Find(KindMCP, ".mcp.json"); it.Status == StatusTrusted {
		t.Error("it is trusted")
	}
}
