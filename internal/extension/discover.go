package extension

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what is looked for.
const (
	MaxExtensions = 100      // of a user, and of a project
	maxNames      = 1000     // names that are read in a folder of extensions
	maxManifest   = 64 << 10 // bytes of a manifest
	maxID         = 64       // bytes
	maxCommand    = 64       // words of a command, each of at most 4 KiB
	maxFilesOf    = 32       // extensions that one package.json names
)

// Kind says in what an extension is written.
type Kind string

// The kinds.
const (
	JavaScript Kind = "javascript" // a file for the child of this binary
	Process    Kind = "process"    // a program that speaks package rpc
)

// Scope says whose an extension is.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Extension is an extension that was found.
type Extension struct {
	ID    string
	Name  string // for people; its ID when it gives none
	Kind  Kind
	Scope Scope
	Path  string // of its file, absolute; of a process the manifest
	Dir   string // its folder, absolute
	// Root is what Files are relative to, and Files what may be read for it with their
	// SHA-256; nil for the user's own, of which anything may.
	Root  string
	Files map[string]string
	Argv  []string // of a process
	// Servers is the JSON object of the MCP servers in its manifest; nil for none.
	Servers json.RawMessage
	Skills  []string // folders of skills, absolute

	State   protocol.ExtensionState
	Problem string // why it is not started, a sentence; "" when it is
}

// Source is a folder in which extensions are looked for.
type Source struct {
	Dir   string // absolute; it need not exist
	Scope Scope
	// Base, of a project, is its folder: what leads out of it is not followed.
	Base string
	// Trusted gives the files of the folder that may be read, with their SHA-256, by
	// name relative to Base; nil says that none may. It is asked only when something
	// was found.
	Trusted func() (files map[string]string, why string)
}

// Found is what a look has found: in load order, the user's before the project's and
// within these by id.
type Found struct {
	Extensions []Extension
	Problems   []string // sentences about what could not be read
}

// Exists reports whether there is anything at a source. It costs one stat.
func (s Source) Exists() bool {
	info, err := os.Stat(s.Dir)
	return err == nil && info.IsDir()
}

// Find looks for extensions and starts nothing. Disabled are switched off. An
// extension of the project takes the place of the user's of the same id.
func Find(sources []Source, disabled func(id string) bool) Found {
	var out Found
	for _, s := range sources {
		found, problems := s.find()
		out.Problems = append(out.Problems, problems...)
		out.Extensions = append(out.Extensions, found...)
	}
	for i := range out.Extensions {
		e := &out.Extensions[i]
		switch other := slices.IndexFunc(out.Extensions, func(o Extension) bool { return o.ID == e.ID && o.Scope == Project }); {
		case e.State != protocol.ExtensionFound:
		case disabled != nil && disabled(e.ID):
			e.State, e.Problem = protocol.ExtensionDisabled, "It is switched off; scorel extensions enable "+e.ID+" switches it on."
		case e.Scope == User && other >= 0 && out.Extensions[other].State != protocol.ExtensionUntrusted:
			e.State, e.Problem = protocol.ExtensionShadowed, "The project has an extension of the same name."
		}
	}
	return out
}

func (s Source) find() (out []Extension, problems []string) {
	if !s.Exists() {
		return nil, nil
	}
	base := cmp.Or(s.Base, s.Dir)
	var root files = anywhere(base)
	if s.Scope == Project {
		r, err := os.OpenRoot(base)
		if err != nil {
			return nil, []string{fmt.Sprintf("The extensions in %s cannot be read: %v.", s.Dir, cause(err))}
		}
		defer r.Close()
		root = r
	}
	rel, err := filepath.Rel(base, s.Dir)
	if err != nil {
		return nil, []string{fmt.Sprintf("The extensions in %s cannot be read: %v.", s.Dir, err)}
	}
	l := look{source: s, base: base, root: root, rel: filepath.ToSlash(rel)}
	names, more, err := l.names()
	if err != nil {
		return nil, []string{fmt.Sprintf("The extensions in %s cannot be read: %v.", s.Dir, cause(err))}
	}
	if more {
		problems = append(problems, fmt.Sprintf("%s has more than %d names; only the first are looked at.", s.Dir, maxNames))
	}
	for _, name := range names {
		l.entry(name)
	}
	problems = append(problems, l.problems...)
	slices.SortStableFunc(l.found, func(a, b Extension) int { return strings.Compare(a.ID, b.ID) })
	if len(l.found) > MaxExtensions {
		problems = append(problems, fmt.Sprintf("%s has %d extensions; only the first %d count.", s.Dir, len(l.found), MaxExtensions))
		l.found = l.found[:MaxExtensions]
	}
	if len(l.found) > 0 && s.Scope == Project {
		l.judge()
	}
	return l.found, problems
}

// files opens what stands below a folder: an [os.Root], out of which no link leads,
// or the user's own folder, whose links may lead anywhere.
type files interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
	Stat(name string) (os.FileInfo, error)
}

type anywhere string

func (a anywhere) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(filepath.Join(string(a), name), flag, perm)
}

func (a anywhere) Stat(name string) (os.FileInfo, error) {
	return os.Stat(filepath.Join(string(a), name))
}

// look is one look into a folder of extensions. Names have slashes and are relative to
// base.
type look struct {
	source   Source
	base     string
	root     files
	rel      string
	found    []Extension
	problems []string
}

func (l *look) names() (names []string, more bool, err error) {
	f, err := l.root.OpenFile(filepath.FromSlash(l.rel), os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	names, err = f.Readdirnames(maxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	slices.Sort(names)
	if more = len(names) > maxNames; more {
		names = names[:maxNames]
	}
	return names, more, nil
}

// read reads a small file. It does not wait for pipes.
func (l *look) read(name string, limit int64) ([]byte, error) {
	f, err := l.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	return data, err
}

func (l *look) isFile(name string) bool {
	info, err := l.root.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

// scriptID reports whether a file is one that the child can run.
func scriptID(name string) (id string, ok bool) {
	switch ext := path.Ext(name); ext {
	case ".ts", ".js", ".mjs":
		return strings.TrimSuffix(path.Base(name), ext), !strings.HasSuffix(name, ".d.ts")
	}
	return "", false
}

func (l *look) add(e Extension, name string) {
	e.Scope, e.State = l.source.Scope, protocol.ExtensionFound
	e.Path = filepath.Join(l.base, filepath.FromSlash(name))
	e.Dir = filepath.Dir(e.Path)
	e.Name = cmp.Or(e.Name, e.ID)
	if e.Problem == "" {
		e.Problem = checkID(e.ID)
	}
	if i := slices.IndexFunc(l.found, func(o Extension) bool { return o.ID == e.ID }); i >= 0 && e.Problem == "" {
		e.Problem = fmt.Sprintf("%s has the same name; rename one of them.", l.found[i].Path)
	}
	if e.Problem != "" {
		e.State = protocol.ExtensionFailed
	}
	l.found = append(l.found, e)
}

func checkID(id string) string {
	ok := id != "" && len(id) <= maxID && id != "disabled" && id[0] != '.' && id[0] != '-'
	for _, c := range []byte(id) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.')
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("%.70q cannot be the name of an extension: use letters, digits, dots, dashes and underscores, at most %d.", id, maxID)
}

// entry looks at one name in the folder.
func (l *look) entry(name string) {
	full := path.Join(l.rel, name)
	if strings.HasPrefix(name, ".") || name == "node_modules" {
		return
	}
	info, err := l.root.Stat(filepath.FromSlash(full))
	switch {
	case err != nil:
		if _, ok := scriptID(name); ok {
			l.problems = append(l.problems, fmt.Sprintf("%s cannot be read: %v.", filepath.Join(l.base, full), cause(err)))
		}
	case info.IsDir():
		l.folder(name, full)
	case info.Mode().IsRegular():
		if id, ok := scriptID(name); ok {
			l.add(Extension{ID: id, Kind: JavaScript}, full)
		}
	}
}

// folder looks at a folder: a manifest of a process, a package, or an index.
func (l *look) folder(id, dir string) {
	manifest := path.Join(dir, "scorel.extension.json")
	if data, err := l.read(manifest, maxManifest); err == nil {
		l.manifest(id, manifest, data)
		return
	} else if !errors.Is(err, fs.ErrNotExist) {
		l.add(Extension{ID: id, Kind: Process, Problem: fmt.Sprintf("Its manifest cannot be read: %v.", cause(err))}, manifest)
		return
	}
	pkg := path.Join(dir, "package.json")
	data, err := l.read(pkg, 16*maxManifest)
	switch {
	case err == nil:
		if l.pkg(id, dir, pkg, data) {
			return
		}
	case !errors.Is(err, fs.ErrNotExist):
		l.add(Extension{ID: id, Kind: JavaScript, Problem: fmt.Sprintf("Its package.json cannot be read: %v.", cause(err))}, pkg)
		return
	}
	for _, index := range []string{"index.ts", "index.js", "index.mjs"} {
		if l.isFile(path.Join(dir, index)) {
			l.add(Extension{ID: id, Kind: JavaScript}, path.Join(dir, index))
			return
		}
	}
}

// pkg takes what a package.json names, and reports whether it names anything.
func (l *look) pkg(id, dir, name string, data []byte) bool {
	type part struct {
		Extensions []string `json:"extensions"`
	}
	var p struct {
		Scorel *part `json:"scorel"`
		Pi     *part `json:"pi"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		l.add(Extension{ID: id, Kind: JavaScript, Problem: fmt.Sprintf("Its package.json is not valid: %s.", jsonError(name, data, err))}, name)
		return true
	}
	of := p.Scorel
	if of == nil {
		of = p.Pi
	}
	if of == nil || len(of.Extensions) == 0 {
		return false
	}
	for i, entry := range of.Extensions {
		if i == maxFilesOf {
			l.problems = append(l.problems, fmt.Sprintf("%s names more than %d extensions; only the first count.", filepath.Join(l.base, name), maxFilesOf))
			break
		}
		e := Extension{ID: id, Kind: JavaScript}
		base, ok := scriptID(entry)
		if len(of.Extensions) > 1 {
			e.ID = id + "-" + base
		}
		file := path.Join(dir, entry)
		if !ok || !within(dir, file) || !l.isFile(file) {
			e.Problem = fmt.Sprintf("Its package.json names %.200q (package.json:%d), which is no .ts, .js or .mjs file in its folder.", entry, lineOf(data, entry))
			file = name
		}
		l.add(e, file)
	}
	return true
}

func within(dir, name string) bool { return strings.HasPrefix(name, dir+"/") }

// jsonError says what is wrong with a file of JSON, and in which line.
func jsonError(name string, data []byte, err error) string {
	at := len(data)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
	case errors.As(err, &kind):
		at = int(kind.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends too early")
	default:
		if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
			at = max(0, bytes.Index(data, []byte(field)))
		}
	}
	return fmt.Sprintf("%s:%d: %s", path.Base(name), lineAt(data, at), strings.TrimPrefix(err.Error(), "json: "))
}

// lineOf is the line in which a file of JSON has a string; the first where it is not found.
func lineOf(data []byte, text string) int {
	quoted, _ := json.Marshal(text)
	return lineAt(data, max(0, bytes.Index(data, quoted)))
}

func lineAt(data []byte, at int) int {
	data = bytes.TrimRight(data[:min(at, len(data))], "\n")
	return 1 + bytes.Count(data, []byte("\n"))
}

// manifestFile is scorel.extension.json.
type manifestFile struct {
	ID          string          `json:"id"`
	Kind        string          `json:"kind"`
	DisplayName string          `json:"displayName"`
	Command     []string        `json:"command"`
	Skills      []string        `json:"skills"`
	MCP         json.RawMessage `json:"mcp"`
}

func (l *look) manifest(id, name string, data []byte) {
	e := Extension{ID: id, Kind: Process}
	var m manifestFile
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	dir := path.Dir(name)
	switch err := dec.Decode(&m); {
	case err != nil:
		e.Problem = fmt.Sprintf("Its manifest is not valid: %s.", jsonError(name, data, err))
	case m.Kind != "process":
		e.Problem = fmt.Sprintf("Its manifest has the kind %.40q; the one kind is \"process\".", m.Kind)
	case len(m.Command) == 0 || m.Command[0] == "":
		e.Problem = `Its manifest names no program; "command" is a list such as ["python3", "main.py"].`
	case len(m.Command) > maxCommand || slices.ContainsFunc(m.Command, func(s string) bool { return len(s) > 4<<10 || strings.ContainsRune(s, 0) }):
		e.Problem = fmt.Sprintf("Its command has more than %d words, or one of more than 4 KiB.", maxCommand)
	default:
		e.ID, e.Name, e.Argv = cmp.Or(m.ID, id), display.Line(clip(m.DisplayName, 100)), m.Command
		for _, s := range m.Skills {
			at := path.Join(dir, s)
			if at != dir && !within(dir, at) {
				e.Problem = fmt.Sprintf("Its manifest names the skills %.200q, which are not in its folder.", s)
				break
			}
			e.Skills = append(e.Skills, filepath.Join(l.base, filepath.FromSlash(at)))
		}
		if mcp.HasServers(m.MCP) {
			e.Servers = m.MCP
		}
	}
	l.add(e, name)
}

// judge says of a project's extensions whether they may run.
func (l *look) judge() {
	files, why := l.source.Trusted()
	for i := range l.found {
		e := &l.found[i]
		if e.State != protocol.ExtensionFound {
			continue
		}
		rel, err := filepath.Rel(l.base, e.Path)
		if _, ok := files[filepath.ToSlash(rel)]; err != nil || !ok {
			e.State, e.Problem = protocol.ExtensionUntrusted, why
			continue
		}
		if name := l.unhashed(e, files); name != "" {
			e.State, e.Problem = protocol.ExtensionUntrusted, fmt.Sprintf("Its command names %.200q, which is not among the files that are trusted; put the file itself into .scorel/extensions, outside of node_modules.", name)
			continue
		}
		e.Root, e.Files = l.base, files
	}
}

// unhashed returns a file of the project that a program is started with and that trust
// does not know by its hash, so that it could change unseen: one of node_modules, a
// link, or one beside the folder of extensions. "" when there is none.
func (l *look) unhashed(e *Extension, files map[string]string) string {
	for i, word := range e.Argv {
		if i == 0 && !strings.ContainsRune(word, '/') {
			continue // found on the PATH
		}
		full := word
		if !filepath.IsAbs(full) {
			full = filepath.Join(e.Dir, full)
		}
		rel, err := filepath.Rel(l.base, full)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if _, known := files[filepath.ToSlash(rel)]; known {
			continue
		}
		if info, err := os.Lstat(full); err == nil && !info.IsDir() {
			return word
		}
	}
	return ""
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// cause is the innermost part of a file error.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
