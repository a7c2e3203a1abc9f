package export

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser returns the headless browser of the machine, "" when there is none.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// visit opens a page in a browser and returns the document as it then is and what
// the browser says.
func visit(t *testing.T, path, page string) (dom, says string) {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom", "file://"+name)
	cmd.WaitDelay = time.Second
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// TestBrowserRunsAndLoadsNothing opens pages in a real browser. The hostile one
// points to a server of this test in every way it knows.
func TestBrowserRunsAndLoadsNothing(t *testing.T) {
	path := browser()
	if path == "" {
		t.Skip("there is no Chromium; install it to see the pages opened in a browser")
	}
	var mu sync.Mutex
	var requests []string
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, r.URL.Path)
	}))
	srv.Listener = listener
	srv.Start()
	defer srv.Close()
	console := regexp.MustCompile(`(?m)^.*CONSOLE.*$`)
	handler := regexp.MustCompile(`<[a-zA-Z]+(\s+[a-z-]+="[^"]*")*\s+on[a-z]+=`)
	seen := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return requests
	}

	// That the test would notice: a page of this kind without our care.
	dom, _ := visit(t, path, `<title>calm</title><img src="`+srv.URL+`/noticed"><script>document.title="pwned"</script>`)
	if !strings.Contains(dom, "<title>pwned</title>") || len(seen()) == 0 {
		t.Fatalf("the browser runs and loads nothing even where it should: %q, %q", dom, seen())
	}
	before := len(seen())

	for name, talk := range map[string]*talk{"small": small(), "hostile": evil(srv.URL)} {
		page := talk.page(t)
		dom, says := visit(t, path, page)
		if lines := console.FindAllString(says, 5); len(lines) > 0 {
			t.Errorf("%s: the console says %q", name, lines)
		}
		if strings.Contains(dom, "<title>pwned") || !strings.Contains(dom, "Branches that were left") || !strings.Contains(dom, "nothing in this page runs") {
			t.Errorf("%s: the document is changed", name)
		}
		if m := handler.FindString(dom); m != "" {
			t.Errorf("%s: the browser has made a handler: %.200s", name, m)
		}
		for _, tag := range []string{"<script", "<iframe", "<svg", "<form", "<link", "<base"} {
			if strings.Contains(dom, tag) {
				t.Errorf("%s: the browser has made a %s of it", name, tag)
			}
		}
	}
	if got := seen(); len(got) != before {
		t.Errorf("the pages requested %q", got[before:])
	}
}
