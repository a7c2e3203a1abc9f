package mcpb

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file is one of a bundle.
type file struct {
	name, text string
	mode       fs.FileMode
}

func bundle(t *testing.T, files ...file) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.mode != 0 {
			h.SetMode(f.mode)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.mcpb")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const good = `{"manifest_version":"0.2","name":"crm","display_name":"CRM","version":"1.2","server":{"type":"node","entry_point":"server/index.js",
	"mcp_config":{"command":"node","args":["${__dirname}/server/index.js","${user_config.folder}","${user_config.extra}","$PLAIN ${ANTHROPIC_API_KEY}"],"env":{"KEY":"${user_config.key}","OPT":"${user_config.extra}"}}},
	"user_config":{"key":{"type":"string","title":"API key","sensitive":true,"required":true},"folder":{"type":"directory","title":"Folder","default":"${HOME}/notes"},"extra":{"type":"string"}}}`

func TestABundleIsUnpackedAndItsServerAsksForWhatItNeeds(t *testing.T) {
	b, err := Open(bundle(t, file{manifestName, good, 0}, file{"server/", "", fs.ModeDir | 0o755}, file{"server/index.js", "serve()", 0}, file{"bin/run", "#!", 0o755}))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	dir := t.TempDir()
	if err := b.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "server", "index.js")); err != nil || string(data) != "serve()" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "bin", "run")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	e, left := b.Entry("crm", "/b", "/home/ada")
	if got, want := fmt.Sprintf("%s %q %q", e.Command, e.Args, e.Env), `node ["/b/server/index.js" "${input:crm.folder}" "$$PLAIN $${ANTHROPIC_API_KEY}"] map["KEY":"${input:crm.key}"]`; got != want {
		t.Errorf("it starts %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%+v %q", e.Inputs, left), `[{ID:crm.folder Description:Folder Default:/home/ada/notes Password:false Options:[]} {ID:crm.key Description:API key Default: Password:true Options:[]}] ["extra"]`; got != want {
		t.Errorf("it asks for %s, want %s", got, want)
	}
}

func TestABundleThatCouldDoHarmIsRefused(t *testing.T) {
	many := make([]file, maxFiles+1)
	for i := range many {
		many[i] = file{fmt.Sprint(i), "", 0}
	}
	for name, test := range map[string]struct {
		files []file
		want  string
	}{
		"no manifest":     {[]file{{"a", "", 0}}, "it has no manifest.json"},
		"a parent":        {[]file{{"../evil", "", 0}}, "leads out of it"},
		"hidden parent":   {[]file{{"a/../../evil", "", 0}}, "leads out of it"},
		"absolute":        {[]file{{"/etc/evil", "", 0}}, "leads out of it"},
		"backslash":       {[]file{{`..\evil`, "", 0}}, "cannot be unpacked"},
		"a link":          {[]file{{"a", "/etc/passwd", fs.ModeSymlink | 0o777}}, "a link"},
		"many files":      {many, "more than 10000 files"},
		"a large one":     {[]file{{manifestName, strings.Repeat(" ", maxManifest+1), 0}}, "larger than 1 MiB"},
		"no JSON":         {[]file{{manifestName, "{", 0}}, "is not valid"},
		"no command":      {[]file{{manifestName, `{"server":{"type":"uv"}}`, 0}}, "names no command"},
		"another system":  {[]file{{manifestName, `{"compatibility":{"platforms":["win32"]},"server":{"mcp_config":{"command":"x"}}}`, 0}}, "it is for win32"},
		"the same, twice": {[]file{{manifestName, good, 0}, {"a", "1", 0}, {"a", "2", 0}}, "file exists"},
		"file and folder": {[]file{{manifestName, good, 0}, {"a", "1", 0}, {"a/b", "2", 0}}, "unpack"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Open(bundle(t, test.files...))
			if err == nil {
				defer b.Close()
				err = b.Unpack(t.TempDir())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestABundleThatHoldsMoreThanItSaysIsRefused: the sizes in a zip are its author's words.
func TestABundleThatHoldsMoreThanItSaysIsRefused(t *testing.T) {
	name := bundle(t, file{manifestName, good, 0}, file{"bomb", strings.Repeat("0", 4<<20), 0})
	b, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := one(root, b.zip.File[1], "bomb", 1<<20); err == nil || !strings.Contains(err.Error(), "unpacks to more than") {
		t.Errorf("%v", err)
	}
}

func FuzzBundlesStayInTheirFolder(f *testing.F) {
	for _, name := range []string{"a", "../a", "a/../../b", "/x", "a//b", ".", "a/./b", "..", "a\\..\\b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if err := check(&zip.File{FileHeader: zip.FileHeader{Name: name}}); err == nil && !filepath.IsLocal(strings.TrimSuffix(name, "/")) {
			t.Errorf("%q is taken", name)
		}
	})
}
