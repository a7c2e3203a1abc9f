package config

import (
	"strings"
	"testing"
)

func TestAPresetIsOffUntilAPersonOrASessionSwitchesItOn(t *testing.T) {
	const root = "/p"
	vars := func(env map[string]string) Vars {
		return Vars{Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	}
	session := File{Name: "--mcp-config", Data: []byte(SwitchedOn(Chrome))}
	user := func(text string) File { return File{Name: "mcp.json", Data: []byte(text)} }
	for name, c := range map[string]struct {
		from         Sources
		env          map[string]string
		off, missing bool
		url, fault   string
	}{
		"alone":                {off: true, url: "http://127.0.0.1:12306/mcp"},
		"with a variable":      {env: map[string]string{"MCP_CHROME_URL": "http://127.0.0.1:9/x"}, off: true, url: "http://127.0.0.1:9/x"},
		"for a session":        {from: Sources{Session: []File{session}}, url: "http://127.0.0.1:12306/mcp"},
		"for a project":        {from: Sources{User: user(`{"projects":{"/p":{"enabled":{"mcp-chrome":true}}}}`)}, url: "http://127.0.0.1:12306/mcp"},
		"off here":             {from: Sources{User: user(`{"projects":{"/p":{"enabled":{"mcp-chrome":false}}}}`), Session: []File{session}}, url: "http://127.0.0.1:12306/mcp"},
		"with an own entry":    {from: Sources{User: user(`{"mcpServers":{"mcp-chrome":{"url":"http://127.0.0.1:7/mcp","type":"http","disabled":true}}}`), Session: []File{session}}, url: "http://127.0.0.1:7/mcp"},
		"under a managed file": {from: Sources{Managed: user(`{"mcpServers":{}}`), Session: []File{session}}, missing: true, fault: "it is not switched on: the administrator's file mcp.json excludes it"},
		"denied":               {from: Sources{Policies: Policies{{Layer: "config.toml", Denied: []Rule{{Name: Chrome}}}}, Session: []File{session}}, missing: true, fault: "it is not switched on: "},
		"in a project's file":  {from: Sources{Project: []File{{Name: ".mcp.json", Data: []byte(SwitchedOn(Chrome))}}}, off: true, fault: "the key \"enabled\" is unknown"},
	} {
		c.from.Root, c.from.Presets, c.from.Vars = root, Presets(), vars(c.env)
		for _, s := range []Sources{c.from, c.from.Strict()} {
			set := Merge(s)
			e, ok := set.Lookup(Chrome)
			if strict := len(s.User.Data)+len(s.Project) == 0 && len(c.from.User.Data)+len(c.from.Project) > 0; strict {
				continue // other files decide there
			}
			full, _, _ := e.Expand(c.from.Vars)
			if ok == c.missing || ok && (e.Disabled != c.off || c.url != "" && full.URL != c.url) {
				t.Errorf("%s: %t, %+v", name, ok, e)
			}
			var faults string
			for _, f := range set.Faults {
				faults += f.Error() + "\n"
			}
			if (c.fault == "") != (faults == "") || !strings.Contains(faults, c.fault) {
				t.Errorf("%s: faults %q", name, faults)
			}
		}
	}
	set := Merge(Sources{Session: []File{{Data: []byte(SwitchedOn("nobody"))}}})
	if len(set.Faults) != 1 || !set.Faults[0].Dropped || !strings.Contains(set.Faults[0].Error(), "there is no server of this name") {
		t.Errorf("%v", set.Faults)
	}
}
