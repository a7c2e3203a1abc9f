package trust

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
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
	// extensionDir and extensionManifest are where a project's extensions are.
	extensionDir      = ".scorel/extensions"
	extensionManifest = "scorel.extension.json"
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
			s.describe(it, finder, named, mcp.Sources{Root: s.dir, Project: []mcp.File{{Name: it.Name, Data: data}}})
		}
		out = append(out, *it)
	}
	list, err := s.manifests()
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		s.describe(&s.started, finder, named, mcp.Sources{Root: s.dir, Extensions: list})
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

// manifests returns the servers in the manifests of the project's extensions.
func (s *scan) manifests() (list []mcp.Extension, err error) {
	names, _, err := s.list(KindExtension, extensionDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		file := extensionDir + "/" + name + "/" + extensionManifest
		data, _, err := s.read(file, maxText)
		if err != nil {
			continue // it has none, or the item of the extensions says what is wrong
		}
		if x, ok := mcp.ExtensionOf(name, data); ok {
			x.Dir, x.File, x.OfProject = filepath.Join(s.dir, extensionDir, name), file, true
			list = append(list, x)
		}
	}
	return list, nil
}

// describe says what the servers of a source do, and notes the files that they name.
func (s *scan) describe(it *Item, finder *namer, named map[string][]string, from mcp.Sources) {
	set := mcp.Merge(from)
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
		if e.Dir != "" { // in which names are looked for
			words = append(words, e.Dir)
		}
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
	var from mcp.Sources
	if e.Scope == mcp.ScopeExtension {
		data, err := s.trustedManifest(root, file)
		if err != nil {
			return "", err
		}
		if data == nil {
			return "it is of an extension of the project, which you have not trusted as it is" + again, nil
		}
		if x, ok := mcp.ExtensionOf(filepath.Base(filepath.Dir(file)), data); ok {
			x.Dir, x.OfProject = e.Dir, true
			from.Extensions = []mcp.Extension{x}
		}
	} else {
		data, trusted, _, err := s.Read(root, KindMCP, file, maxText)
		switch {
		case err != nil:
			return "", err
		case data == nil || !trusted:
			return "it is of the project, whose " + file + " you have not trusted as it is" + again, nil
		}
		from.Project = []mcp.File{{Name: file, Data: data}}
	}
	from.Root = root
	set := mcp.Merge(from)
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

// trustedManifest reads a file of the project's extensions; nil where they are not trusted as
// they are, all of them: they may read each other's files.
func (s *Store) trustedManifest(root, file string) ([]byte, error) {
	r, err := s.Status(context.Background(), root)
	if err != nil {
		return nil, err
	}
	it := r.Find(KindExtension, extensionDir)
	if it == nil || it.Status != StatusTrusted {
		return nil, nil
	}
	data, err := it.Read(file)
	if errors.Is(err, ErrChanged) {
		return nil, nil
	}
	return data, err
}
