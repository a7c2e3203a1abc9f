package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// Bounds of one extension.
const (
	MaxSource  = 8 << 20  // bytes of one file
	MaxSources = 32 << 20 // bytes of all
	MaxInputs  = 5_000    // files
	MaxOutput  = 32 << 20 // bytes of the bundle
	maxErrors  = 5        // shown of a build
	largeBuild = 1 << 20  // bytes of sources from which memory is given back at once
)

// Options say what to bundle.
type Options struct {
	Entry string // absolute path of the extension's file
	Root  string // its folder; the entry's when empty
	// Files, when not nil, are all files that may be read, relative to Root with
	// slashes, with the hex of their SHA-256.
	Files map[string]string
	// Cache is the folder for bundles, "" for none.
	Cache string
	// Version stands for what else goes into the bundle: of Scorel, and of its modules.
	Version string
}

// Bundle is a script.
type Bundle struct {
	Code   []byte
	Name   string            // for the interpreter: source maps are relative to it
	Inputs map[string]string // all files that went in, relative to Root if below it, with their SHA-256
	Cached bool
}

// Error is a source that cannot be bundled: one sentence a problem, with
// file:line:column.
type Error struct{ Problems []string }

func (e *Error) Error() string { return strings.Join(e.Problems, "\n") }

// Make bundles, or takes the bundle from the cache.
func Make(o Options) (*Bundle, error) {
	if err := o.resolve(); err != nil {
		return nil, err
	}
	if b := o.cached(); b != nil {
		return b, nil
	}
	b, err := o.build()
	if err != nil {
		return nil, err
	}
	o.store(b)
	return b, nil
}

// Cached returns the bundle that is in the cache, nil for none.
func Cached(o Options) (*Bundle, error) {
	if err := o.resolve(); err != nil {
		return nil, err
	}
	return o.cached(), nil
}

// resolve makes the paths those of the files themselves.
func (o *Options) resolve() error {
	entry, err := filepath.Abs(o.Entry)
	if err == nil {
		entry, err = filepath.EvalSymlinks(entry)
	}
	if err != nil {
		return fmt.Errorf("read the extension: %w", err)
	}
	if o.Root == "" {
		o.Root = filepath.Dir(entry)
	} else if o.Root, err = filepath.EvalSymlinks(o.Root); err != nil {
		return fmt.Errorf("read the extension's folder: %w", err)
	}
	o.Entry = entry
	return nil
}

// name is the file's name in Inputs.
func (o Options) name(path string) string {
	rel, err := filepath.Rel(o.Root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

func (o Options) path(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return filepath.FromSlash(name)
	}
	return filepath.Join(o.Root, filepath.FromSlash(name))
}

// reader reads the files of one build. esbuild calls it from several goroutines.
type reader struct {
	o Options

	mu     sync.Mutex
	inputs map[string]string
	size   int
}

// read returns a file that may be read, and notes it.
func (r *reader) read(path string) ([]byte, error) {
	name := r.o.name(path)
	want, ok := "", true
	if r.o.Files != nil {
		if want, ok = r.o.Files[name]; !ok {
			return nil, fmt.Errorf("%s is not among the files that are trusted for this extension", name)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", name)
	case info.Size() > MaxSource:
		return nil, fmt.Errorf("%s is larger than 8 MiB", name)
	}
	data := make([]byte, 0, info.Size()+1)
	for len(data) <= MaxSource {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err != nil {
			break
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	if len(data) > MaxSource {
		return nil, fmt.Errorf("%s is larger than 8 MiB", name)
	}
	sum := sha256.Sum256(data)
	got := hex.EncodeToString(sum[:])
	if r.o.Files != nil && got != want {
		return nil, fmt.Errorf("%s has changed since it was trusted", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.inputs[name]; !ok {
		r.inputs[name] = got
		r.size += len(data)
	}
	switch {
	case len(r.inputs) > MaxInputs:
		return nil, fmt.Errorf("the extension consists of more than %d files", MaxInputs)
	case r.size > MaxSources:
		return nil, fmt.Errorf("the extension's files are larger than 32 MiB together")
	}
	return data, nil
}

const (
	entryName   = "scorel-extension-entry"
	builtinKind = "scorel-builtin"
)

func (o Options) build() (*Bundle, error) {
	r := &reader{o: o, inputs: map[string]string{}}
	outdir := filepath.Dir(o.Entry)
	result := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{
			Contents:   "import * as extension from " + quote(entryName) + "; __scorel.loaded(extension)",
			ResolveDir: outdir,
			Sourcefile: "scorel:entry",
		},
		AbsWorkingDir: o.Root,
		Bundle:        true,
		Write:         false,
		Outfile:       filepath.Join(outdir, "scorel-bundle.js"),
		Format:        api.FormatESModule,
		Platform:      api.PlatformNode,
		Target:        api.ES2022,
		Supported:     map[string]bool{"async-generator": false, "for-await": false, "using": false, "decorators": false, "top-level-await": true, "regexp-unicode-property-escapes": false},
		Banner:        map[string]string{"js": "(async(__scorel)=>{"},
		Footer:        map[string]string{"js": "})"},
		// The names of files in the map are relative to the bundle, so beside the entry.
		Sourcemap:      api.SourceMapInline,
		SourcesContent: api.SourcesContentExclude,
		KeepNames:      false,
		LegalComments:  api.LegalCommentsNone,
		TsconfigRaw:    "{}", // a file that nobody trusted must not decide what is made
		MainFields:     []string{"module", "main"},
		Conditions:     []string{"scorel", "module"},
		Define:         map[string]string{"import.meta.url": quote("file://" + filepath.ToSlash(o.Entry)), "import.meta.dirname": quote(outdir), "import.meta.filename": quote(o.Entry), "__filename": quote(o.Entry), "__dirname": quote(outdir), "process.env.NODE_ENV": `"production"`},
		Loader:         map[string]api.Loader{".json": api.LoaderJSON, ".md": api.LoaderText, ".txt": api.LoaderText},
		LogLevel:       api.LogLevelSilent,
		LogLimit:       maxErrors,
		Plugins:        []api.Plugin{{Name: "scorel", Setup: r.setup}},
	})
	if r.size > largeBuild {
		debug.FreeOSMemory()
	}
	if len(result.Errors) > 0 {
		return nil, problems(o, result.Errors)
	}
	if len(result.OutputFiles) != 1 {
		return nil, fmt.Errorf("bundle %s: there are %d outputs", o.name(o.Entry), len(result.OutputFiles))
	}
	code := result.OutputFiles[0].Contents
	if len(code) > MaxOutput {
		return nil, fmt.Errorf("the extension is larger than 32 MiB when its imports are included")
	}
	if err := r.packages(); err != nil {
		return nil, err
	}
	return &Bundle{Code: code, Name: o.script(), Inputs: r.inputs}, nil
}

func (o Options) script() string { return filepath.Join(filepath.Dir(o.Entry), "scorel-bundle.js") }

// setup is the plugin: it resolves built-in modules and reads all files.
func (r *reader) setup(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: "^" + entryName + "$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: r.o.Entry, Namespace: "file"}, nil
	})
	b.OnResolve(api.OnResolveOptions{Filter: `^[^./]`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		name, ok := Builtin(a.Path)
		if !ok {
			if strings.HasPrefix(a.Path, "node:") {
				return api.OnResolveResult{}, absent(a.Path)
			}
			if Instead(a.Path) != "" {
				if a.Kind == api.ResolveJSRequireCall { // the code may go without it, so it fails when it runs
					return api.OnResolveResult{Path: a.Path, Namespace: builtinKind}, nil
				}
				return api.OnResolveResult{}, absent(a.Path)
			}
			return api.OnResolveResult{}, nil
		}
		return api.OnResolveResult{Path: name, Namespace: builtinKind}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: builtinKind}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		code := "module.exports = __scorel.module(" + quote(a.Path) + ")"
		return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		data, err := r.read(a.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		loader, ok := loaderOf(a.Path)
		if !ok {
			return api.OnLoadResult{}, fmt.Errorf("%s cannot be imported; an extension imports .ts, .js, .mjs, .cjs, .json, .md and .txt", r.o.name(a.Path))
		}
		if loader != api.LoaderText {
			if err := checkNesting(data); err != nil {
				return api.OnLoadResult{}, fmt.Errorf("%s: %w", r.o.name(a.Path), err)
			}
		}
		code := string(data)
		return api.OnLoadResult{Contents: &code, Loader: loader, ResolveDir: filepath.Dir(a.Path)}, nil
	})
}

func loaderOf(path string) (api.Loader, bool) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".ts", ".mts", ".cts":
		return api.LoaderTS, true
	case ".tsx":
		return api.LoaderTSX, true
	case ".jsx":
		return api.LoaderJSX, true
	case ".js", ".mjs", ".cjs", "":
		return api.LoaderJS, true
	case ".json":
		return api.LoaderJSON, true
	case ".md", ".txt":
		return api.LoaderText, true
	}
	return 0, false
}

// packages notes the package.json files that stand above the inputs: they decide which
// files are taken.
func (r *reader) packages() error {
	looked := map[string]bool{}
	names := make([]string, 0, len(r.inputs))
	for name := range r.inputs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for dir := filepath.Dir(r.o.path(name)); !looked[dir] && within(r.o.Root, dir); dir = filepath.Dir(dir) {
			looked[dir] = true
			path := filepath.Join(dir, "package.json")
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if _, err := r.read(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// problems writes what esbuild says, a sentence each.
func problems(o Options, errs []api.Message) error {
	e := &Error{}
	for i, m := range errs {
		if i == maxErrors {
			e.Problems = append(e.Problems, fmt.Sprintf("and %d more", len(errs)-i))
			break
		}
		text := m.Text
		if strings.HasPrefix(text, "Could not resolve ") {
			text += "; an extension imports its own files, packages in its node_modules, and the modules that Scorel brings along"
		}
		if l := m.Location; l != nil && !strings.HasPrefix(l.File, "scorel:") && l.Line > 0 {
			file := l.File
			if filepath.IsAbs(file) {
				file = o.name(file)
			}
			text = fmt.Sprintf("%s:%d:%d: %s", file, l.Line, l.Column+1, text)
		}
		e.Problems = append(e.Problems, text)
	}
	return e
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
