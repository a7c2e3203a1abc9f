package trust

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	mcp "scorel/internal/engine/mcp/config"
)

const (
	// maxServers is how many servers a project's file may have: all are shown.
	maxServers = 30
	// maxVariables is how long the line of the variables that they use may be, in bytes: it
	// is shown whole.
	maxVariables = 400
)

// servers returns the files of MCP servers, and the files that their commands name.
func (s *scan) servers() ([]Item, error) {
	var out []Item
	named := map[string][]string{}
	finder := &namer{project: s.project}
	for _, name := range mcp.ProjectFiles() {
		items, err := s.single(KindMCP, name, nil)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			continue
		}
		it := &items[0]
		if data, _, err := s.read(name, maxText); it.Problem == "" && err == nil {
			s.describe(it, finder, named, data)
		}
		out = append(out, *it)
	}
	for file, servers := range named {
		items, err := s.single(KindProgram, file, nil)
		if err != nil {
			return nil, err
		}
		for i := range items {
			items[i].Does = clip([]string{"is named by " + strings.Join(slices.Compact(servers), ", ")})
		}
		out = append(out, items...)
	}
	return out, nil
}

// describe says what the servers of a file do, and notes the files that they name.
func (s *scan) describe(it *Item, finder *namer, named map[string][]string, data []byte) {
	set := mcp.Merge(mcp.Sources{Root: s.dir, Project: []mcp.File{{Name: it.Name, Data: data}}})
	entries := set.Entries
	for _, x := range set.Suppressed {
		entries = append(entries, x.Entry)
	}
	if len(entries) == 0 {
		it.Does = []string{"it has no servers"}
		return
	}
	if len(entries) > maxServers {
		it.Problem, it.Files = fmt.Sprintf("has more than %d servers, which is more than can be shown", maxServers), nil
		return
	}
	variables := map[string]bool{}
	var lines []string
	for _, e := range entries {
		for _, v := range e.Variables() {
			variables[v] = true
		}
		runs, ok := whole(describeServer(e))
		if !ok {
			it.Problem, it.Files = tooMuch, nil
			return
		}
		lines = append(lines, runs...)
		for _, command := range commandsOf(e) {
			files, ok := finder.filesIn(command)
			if !ok {
				it.Problem, it.Files = fmt.Sprintf("has a command that is longer than %d bytes, or commands that name more than %d files", maxHooked, maxNamed), nil
				return
			}
			for _, file := range files {
				named[file] = append(named[file], e.Name)
			}
		}
	}
	if len(variables) > 0 {
		line := "they get of your environment: " + strings.Join(slices.Sorted(maps.Keys(variables)), ", ")
		if len(line) > maxVariables {
			it.Problem, it.Files = "uses more variables of your environment than can be shown", nil
			return
		}
		lines = append([]string{line}, lines...)
	}
	it.Does = lines
}

// describeServer says what a server does: what starts, or what is called, and what else runs.
func describeServer(e mcp.Entry) []string {
	var also []string
	if len(e.Env) > 0 { // which can make a harmless program do anything; its values may be keys
		also = append(also, "sets "+strings.Join(slices.Sorted(maps.Keys(e.Env)), ", "))
	}
	if e.EnvFile != "" {
		also = append(also, "reads "+e.EnvFile)
	}
	if e.Cwd != "" {
		also = append(also, "works in "+e.Cwd)
	}
	if len(e.Headers) > 0 {
		also = append(also, "sends "+strings.Join(slices.Sorted(maps.Keys(e.Headers)), ", "))
	}
	more := ""
	if len(also) > 0 {
		more = " (" + strings.Join(also, "; ") + ")"
	}
	if e.Type == mcp.TypeStdio {
		return []string{e.Name + " starts" + more + ": " + strings.Join(append([]string{e.Command}, e.Args...), " ")}
	}
	host := "an address"
	if u, err := url.Parse(e.URL); err == nil && u.Host != "" {
		host = u.Host
	}
	lines := []string{e.Name + " connects to " + host + more + ": " + e.URL}
	if e.HeadersHelper != "" {
		lines = append(lines, e.Name+" runs for its headers: "+e.HeadersHelper)
	}
	return lines
}

// commandsOf returns what a server runs, as lines of a shell.
func commandsOf(e mcp.Entry) (lines []string) {
	if e.Type == mcp.TypeStdio {
		words := append([]string{e.Command, e.Cwd, e.EnvFile}, e.Args...)
		for i, w := range words {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		lines = append(lines, strings.Join(words, " "))
	}
	if e.HeadersHelper != "" {
		lines = append(lines, e.HeadersHelper)
	}
	return lines
}

// ChangedServer says in a sentence without a subject why a server of the project at root may
// not be used as its entry has it: its file is not trusted, has another entry now, or the
// command names a file that is not trusted as it is now. It is "" for one that may be. The
// files are read, so that what is said holds for their bytes at this moment.
func (s *Store) ChangedServer(root, file string, e mcp.Entry) (string, error) {
	const again = "; see scorel trust"
	data, trusted, _, err := s.Read(root, KindMCP, file, maxText)
	switch {
	case err != nil:
		return "", err
	case data == nil || !trusted:
		return "it is of the project, whose " + file + " you have not trusted as it is" + again, nil
	}
	set := mcp.Merge(mcp.Sources{Root: root, Project: []mcp.File{{Name: file, Data: data}}})
	now, ok := set.Lookup(e.Name)
	if !ok || now.Hash() != e.Hash() {
		return "its entry in " + file + " has changed", nil
	}
	for _, line := range commandsOf(e) {
		name, err := s.changed(root, KindProgram, line)
		if err != nil {
			return "", err
		}
		if name != "" {
			return "its command names " + name + ", which has changed since you trusted it, or is new" + again, nil
		}
	}
	return "", nil
}
