package admin_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/sandbox/sandboxtest"
	"scorel/protocol"
)

func namesOf(l *protocol.DirectoryList) (names []string) {
	for _, e := range l.Entries {
		names = append(names, e.Name)
	}
	return names
}

func TestFoldersAreListedForChoosingAProject(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.Folder("work/one", "work/two/.git", "work/.hidden", ".config/nvim", "elsewhere/far")
	w.Write(filepath.Join(w.Home, "work", "file.txt"), "")
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(w.Home, at)); err != nil {
			t.Fatal(err)
		}
	}
	link("../elsewhere/far", "work/far")
	link("../elsewhere/far", "work/far again")
	link("one", "work/also one")
	link(".", "work/self")
	link("nowhere", "work/dangling")
	link("file.txt", "work/link to a file")
	link("../.scorel", "work/scorel")
	c := w.Connect(false)
	one := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: filepath.Join(w.Home, "work", "one")})

	home := hosttest.Call[*protocol.DirectoryList](t, c, "", &protocol.ListDirectories{})
	if home.Path != w.Home || home.Parent != filepath.Dir(w.Home) || !slices.Equal(namesOf(home), []string{"elsewhere", "work"}) || home.More {
		t.Errorf("the home: %+v", home)
	}
	work := hosttest.Call[*protocol.DirectoryList](t, c, "", &protocol.ListDirectories{Path: "~/work"})
	if want := []string{"far", "one", "two"}; !slices.Equal(namesOf(work), want) {
		t.Errorf("links stand once, and only those to folders: %q, not %q", namesOf(work), want)
	}
	if e := work.Entries; e[1].ProjectID != one.ProjectID || e[1].Git || e[2].ProjectID != "" || !e[2].Git {
		t.Errorf("marks: %+v", e)
	}
	far := hosttest.Call[*protocol.DirectoryList](t, c, "", &protocol.ListDirectories{Path: filepath.Join(w.Home, "work", "far")})
	if far.Path != filepath.Join(w.Home, "elsewhere", "far") || far.Parent != filepath.Join(w.Home, "elsewhere") || far.Entries == nil {
		t.Errorf("through a link: %+v", far)
	}
	if top := hosttest.Call[*protocol.DirectoryList](t, c, "", &protocol.ListDirectories{Path: "/"}); top.Path != "/" || top.Parent != "" {
		t.Errorf("the top: %+v", top)
	}
}

func TestHiddenFoldersAreListedWhenThePathHasADot(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.Folder("work/.hidden/.deep", "work/seen", ".config/nvim")
	c := w.Connect(false)
	for path, want := range map[string][]string{
		"~/work":         {"seen"},
		"~/work/.":       {".hidden", "seen"},
		"~/work/.hidden": {".deep"},
		"~/.":            {".config", "work"}, // and never .scorel
		"~/.config":      {"nvim"},
		"~/work/../work": {"seen"},
	} {
		if got := namesOf(hosttest.Call[*protocol.DirectoryList](t, c, "", &protocol.ListDirectories{Path: path})); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
}

func TestScorelsOwnFolderIsNotListed(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	if err := os.Symlink(".scorel", filepath.Join(w.Home, "link")); err != nil {
		t.Fatal(err)
	}
	w.Folder(".scorel/sessions")
	c := w.Connect(false)
	for _, path := range []string{"~/.scorel", "~/.scorel/sessions", "~/link", "~/link/sessions", filepath.Join(w.Home, "x", "..", ".scorel")} {
		if path == filepath.Join(w.Home, ".scorel") {
			path = w.Home + "/work/../.scorel"
			w.Folder("work")
		}
		hosttest.Refused(t, c, "", &protocol.ListDirectories{Path: path}, protocol.CodeForbidden)
	}
}

func TestAFolderWithVeryManyIsCutAndSaysSo(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	for i := range 1100 {
		w.Folder(fmt.Sprintf("many/%04d", i))
	}
	got := hosttest.Call[*protocol.DirectoryList](t, w.Connect(false), "", &protocol.ListDirectories{Path: "~/many"})
	if len(got.Entries) != 1000 || !got.More || got.Entries[0].Name != "0000" || got.Entries[999].Name != "0999" {
		t.Errorf("%d entries, more %v", len(got.Entries), got.More)
	}
}

func TestScorelsOwnFolderIsNoProjectByWhateverPath(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.Write(filepath.Join(w.Home, ".scorel", "sub", "file"), "x")
	link := filepath.Join(w.Project, "link")
	if err := os.Symlink(filepath.Join(w.Home, ".scorel"), link); err != nil {
		t.Fatal(err)
	}
	c := w.Connect(false)
	p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: w.Project})
	for _, dir := range []string{filepath.Join(w.Home, ".scorel"), filepath.Join(w.Home, ".scorel", "sub"), link, w.Project + "/../" + filepath.Base(w.Home) + "/.scorel/."} {
		if e := hosttest.Refused(t, c, "", &protocol.RegisterProject{WorkDir: dir}, protocol.CodeForbidden); !strings.Contains(e.Message, "own folder") {
			t.Errorf("%s: %s", dir, e.Message)
		}
		hosttest.Refused(t, c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: dir}}, protocol.CodeForbidden)
	}
	if list := hosttest.Call[*protocol.ProjectList](t, c, "", &protocol.ListProjects{}); len(list.Projects) != 1 {
		t.Errorf("projects: %+v", list.Projects)
	}
}

func TestAFolderThatCannotBeListedIsOneSentence(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		home := filepath.Join(dir, "home")
		for _, d := range []string{"closed", "open/closed/inner"} {
			if err := os.MkdirAll(filepath.Join(home, d), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(home, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{"closed", "open/closed"} {
			path := filepath.Join(home, d)
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
		}
		c := hosttest.Bare(t, home)
		if got := namesOf(hosttest.Call[*protocol.DirectoryList](t, c, "", &protocol.ListDirectories{Path: "~/open"})); !slices.Equal(got, []string{"closed"}) {
			t.Errorf("a folder with a closed one in it: %q", got)
		}
		for path, code := range map[string]protocol.Code{
			"~/closed": protocol.CodePermissionDenied, "~/open/closed/inner": protocol.CodePermissionDenied, "~/none": protocol.CodeInvalidRequest,
			"~/file": protocol.CodeInvalidRequest, "relative": protocol.CodeInvalidRequest, "~/\x00": protocol.CodeInvalidRequest,
			"/" + strings.Repeat("x/", 5000): protocol.CodeInvalidRequest,
		} {
			_, err := client.Call[*protocol.DirectoryList](context.Background(), c, "", &protocol.ListDirectories{Path: path})
			var pe *protocol.Error
			if !errors.As(err, &pe) || pe.Code != code || strings.Count(pe.Message, "\n") > 0 || !strings.HasSuffix(pe.Message, ".") || len(pe.Message) > 600 {
				t.Errorf("%.30q: %v", path, err)
			}
		}
	})
}

// projectsNews waits for a projects_changed frame.
func projectsNews(t *testing.T, conn *host.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
	defer cancel()
	for {
		f, err := conn.Recv(ctx)
		if err != nil {
			t.Fatalf("no projects_changed came: %v", err)
		}
		if _, ok := f.(*protocol.ProjectsChanged); ok {
			return
		}
	}
}

func TestAProjectThatIsRemovedIsGoneAndItsSessionsStay(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.File("AGENTS.md", "x")
	e := w.Begin(false)
	e.Say("hi")
	id := w.Registered(e.C).ProjectID
	hosttest.Call[*protocol.Done](t, e.C, "", &protocol.RemoveProject{ProjectID: id})
	if got := hosttest.Call[*protocol.ProjectList](t, e.C, "", &protocol.ListProjects{}).Projects; len(got) != 0 {
		t.Errorf("it is still listed: %+v", got)
	}
	if got := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{}).Sessions; len(got) != 1 {
		t.Errorf("%d sessions are left", len(got))
	}
	hosttest.Refused(t, e.C, "", &protocol.RemoveProject{ProjectID: id}, protocol.CodeProjectNotFound)
	hosttest.Refused(t, e.C, "", &protocol.ListFiles{ProjectID: id}, protocol.CodeProjectNotFound)
	if again := w.Registered(e.C); again.ProjectID == id || again.ProjectID == "" {
		t.Errorf("registered again as %q", again.ProjectID)
	}
}

func TestAllClientsAreToldWhenTheProjectsChange(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	c := w.Connect(false)
	w.Entered(w.Pair(1, "phone", protocol.GrantView), protocol.GrantView)
	watcher, err := w.ComeIn(w.Pair(2, "tablet", protocol.GrantView), protocol.GrantView)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watcher.Close() }()
	p := w.Registered(c)
	projectsNews(t, watcher)
	r := hosttest.Call[*protocol.TrustReport](t, c, "", &protocol.GetTrust{ProjectID: p.ProjectID})
	hosttest.Call[*protocol.ProjectTrust](t, c, "", &protocol.TrustProject{ProjectID: p.ProjectID, Hash: r.Hash, Trusted: true})
	projectsNews(t, watcher)
	hosttest.Call[*protocol.Done](t, c, "", &protocol.RemoveProject{ProjectID: p.ProjectID})
	projectsNews(t, watcher)
}

// TestWhatIsRemovedIsGoneAlsoForARepeatBehindARestart: the answer was lost with the
// host, which no longer knows what it did.
func TestWhatIsRemovedIsGoneAlsoForARepeatBehindARestart(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	id := w.Registered(w.Connect(false)).ProjectID
	e := w.Pair(1, "phone", protocol.GrantView)
	calls := []protocol.Call{
		{RequestID: protocol.NewRequestID(rand.Reader), Request: &protocol.RemoveProject{ProjectID: id}},
		{RequestID: protocol.NewRequestID(rand.Reader), Request: &protocol.RevokeEntry{ClientID: e.ClientID}},
	}
	send := func(repeat bool) {
		t.Helper()
		conn, err := w.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf([]byte("x"))}, protocol.GrantControl)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		for _, c := range calls {
			c.Repeat = repeat
			if r, err := conn.Call(context.Background(), c); err != nil || r.Err != nil {
				t.Errorf("%s, repeat %v: %v %v", c.Request.Spec().Name, repeat, err, r.Err)
			}
		}
	}
	send(false)
	w.Restart()
	send(true)
}
