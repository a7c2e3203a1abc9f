package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestServersOfOtherProgramsAreRead(t *testing.T) {
	code := ".config/Code/User/mcp.json"
	if runtime.GOOS == "darwin" {
		code = "Library/Application Support/Code/User/mcp.json"
	}
	for _, c := range []struct{ program, file, text, want string }{
		{"claude", ".claude.json", `{"numStartups": 7, "mcpServers": {"db": {"type": "stdio", "command": "db", "args": ["$x", "${Y}"], "env": {}}, "bad": {"type": "sdk"}},
			"projects": {"/w": {"mcpServers": {"here": {"type": "http", "url": "https://h/"}}}, "/other": {"mcpServers": {"no": {"command": "no"}}}}}`,
			`db user stdio db $$x ${Y}
here local http https://h/
! MCP server "bad": the type "sdk" is unknown; there are stdio, http, sse and ws (~/.claude.json)`},
		{"cursor", ".cursor/mcp.json", `{"mcpServers": {"remote": {"url": "https://r/mcp", "headers": {"A": "${env:T}"}}, "Local One": {"command": "npx"}}}`,
			"remote user http https://r/mcp\nLocal-One user stdio npx"},
		{"vscode", code, "{ // mine\n\"servers\": {\"gh\": {\"type\": \"http\", \"url\": \"https://gh/\", \"headers\": {\"Authorization\": \"Bearer ${input:t}\"}}}, \"inputs\": [{\"type\": \"promptString\", \"id\": \"t\"}]}",
			"gh user http https://gh/"},
		{"gemini", ".gemini/settings.json", `{"theme": "x", "mcpServers": {"h": {"httpUrl": "https://h/", "includeTools": ["a"], "timeout": 9}, "s": {"url": "https://s/"}, "c": {"command": "c", "args": ["$A"], "trust": true}}}`,
			`h user http https://h/
s user sse https://s/
c user stdio c $A
! MCP server "c": the key "trust" is unknown and has no effect (~/.gemini/settings.json:1)`},
		{"codex", ".codex/config.toml", "model = 'x'\n[mcp_servers.ctx]\ncommand = 'npx'\nargs = ['-y', '$p']\nenv_vars = ['TOKEN']\ntool_timeout_sec = 1.5\nenabled = false\n[mcp_servers.fig]\nurl = 'https://f/'\nbearer_token_env_var = 'FIG'\nenv_http_headers = { X = 'XV' }\n",
			"ctx user stdio npx -y $$p disabled\nfig user http https://f/"},
		{"codex", ".codex/config.toml", "a = \n", "! the file is not valid TOML: incomplete number (~/.codex/config.toml:1)"},
		{"cursor", ".cursor/mcp.json", "{", "! the file is not valid JSON: it ends too early (~/.cursor/mcp.json:1)"},
	} {
		home := t.TempDir()
		name := filepath.Join(home, c.file)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		entries, files, faults, err := Import(c.program, home, "/w")
		if err != nil || len(files) != 1 || files[0] != name {
			t.Fatal(files, err)
		}
		got := strings.ReplaceAll(summary(Set{Entries: entries, Faults: faults}), home, "~")
		if strings.HasPrefix(c.want, "! the file is not valid TOML") { // how the library says it is its own matter
			got = got[:min(len(got), 30)]
			c.want = c.want[:30]
		}
		if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", c.program, got, c.want)
		}
		for _, e := range entries {
			switch e.Name {
			case "ctx":
				if e.Env["TOKEN"] != "${TOKEN}" || e.TimeoutMS != 1500 {
					t.Errorf("%+v", e)
				}
			case "fig":
				if e.Headers["Authorization"] != "Bearer ${FIG}" || e.Headers["X"] != "${XV}" {
					t.Errorf("%+v", e)
				}
			case "gh":
				if len(e.Inputs) != 1 {
					t.Errorf("%+v", e)
				}
			}
			if faults, ok := e.Check(); !ok {
				t.Errorf("%+v cannot be written: %v", e, faults)
			}
		}
	}
	if entries, files, faults, err := Import("claude", t.TempDir(), ""); err != nil || len(entries)+len(files)+len(faults) > 0 {
		t.Error("nothing to import is no fault", faults, err)
	}
	if _, _, _, err := Import("emacs", "", ""); err == nil || !strings.Contains(err.Error(), "claude, cursor, vscode, gemini, codex") {
		t.Error(err)
	}
}

func FuzzImportReadsWithoutPanic(f *testing.F) {
	f.Add("[mcp_servers.a]\ncommand = 'x'\nenv_http_headers = 3\nhttp_headers = { A = 1 }\nenv_vars = [1]\n")
	f.Add(`{"mcpServers": {"a": {"httpUrl": 3, "url": []}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range Programs() {
			in := &importer{program: p}
			switch p {
			case "claude":
				in.claude("f", []byte(text))
			case "codex":
				in.codex("f", []byte(text))
			default:
				in.json("f", []byte(text))
			}
			for _, e := range in.entries {
				if CheckName(e.Name) != nil || len(e.problems(false)) > 0 {
					t.Errorf("%s: %+v", p, e)
				}
			}
		}
	})
}
