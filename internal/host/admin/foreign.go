package admin

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/host/doctor"
)

// otherCheck begins the ids of what there is of other programs'.
const otherCheck = "other-"

// foreign is another program: what Scorel does not read of it, by place, and what to do.
type foreign struct {
	id string
	// home and project are paths below the home folder and the top of a project. One that
	// ends in a slash is a folder, which counts when there is something in it.
	home, project []string
	advice        string
}

// foreigners are the programs whose files people often have.
var foreigners = []foreign{
	{"pi", []string{".pi/agent/extensions/", ".pi/agent/AGENTS.md", ".pi/agent/skills/", ".pi/agent/prompts/"}, []string{".pi/extensions/", ".pi/skills/", ".pi/prompts/"},
		"Copy extensions to ~/.scorel/extensions or .scorel/extensions (scorel extensions check PATH names what an extension lacks), skills to the folder skills there, prompts to commands, and instructions to ~/.scorel/AGENTS.md."},
	{"codex", []string{".codex/AGENTS.md", ".codex/config.toml", ".codex/prompts/", ".codex/skills/"}, []string{".codex/"},
		"Copy instructions to ~/.scorel/AGENTS.md, prompts to ~/.scorel/commands and skills to ~/.scorel/skills; scorel mcp import codex copies MCP servers."},
	{"gemini", []string{".gemini/GEMINI.md", ".gemini/settings.json", ".gemini/commands/"}, []string{"GEMINI.md", ".gemini/"},
		"Copy instructions to AGENTS.md, or to ~/.scorel/AGENTS.md for all projects; scorel mcp import gemini copies MCP servers."},
	{"cursor", []string{".cursor/mcp.json"}, []string{".cursorrules", ".cursor/rules/"},
		"Copy rules to AGENTS.md; scorel mcp import cursor copies MCP servers."},
}

// foreignChecks are the checks of what there is of programs other than Claude Code. What is
// not there has no text.
func (ad *Admin) foreignChecks(root string) []doctor.Check {
	var checks []doctor.Check
	for _, f := range foreigners {
		checks = append(checks, doctor.Check{ID: otherCheck + f.id, Look: func(context.Context) doctor.Finding { return ad.foreignFound(f, root) }})
	}
	return checks
}

// foreignFound names the files of another program that are not read, and, of a project, the
// AGENTS.md that is.
func (ad *Admin) foreignFound(f foreign, root string) doctor.Finding {
	found := presentOf(ad.settings.UserHome, f.home)
	if root != "" && root != ad.settings.UserHome {
		found = append(found, presentOf(root, f.project)...)
	}
	if len(found) == 0 {
		return doctor.Finding{}
	}
	finding := doctor.OK("not read: %s", someOf(found))
	if root != "" && len(presentOf(root, []string{"AGENTS.md"})) > 0 {
		finding.Text += "; AGENTS.md of this project is read"
	}
	finding.Advice = f.advice
	return finding
}

// presentOf returns those of some paths below a folder that are there.
func presentOf(folder string, names []string) []string {
	var found []string
	for _, name := range names {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case !strings.HasSuffix(name, "/"):
			if info.Mode().IsRegular() {
				found = append(found, path)
			}
		case info.IsDir() && holdsSome(path):
			found = append(found, path)
		}
	}
	return found
}

// holdsSome reports whether there is something in a folder.
func holdsSome(folder string) bool {
	f, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	names, _ := f.Readdirnames(1)
	return len(names) > 0
}
