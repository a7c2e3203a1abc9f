package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// world is the scratch home and project in which the binary runs.
type world struct {
	root string // removed at the end
	home string
	work string
}

// windows of the model that the configuration names: one in which nothing is
// compacted, however long the session.
const hugeWindow = 1 << 28

// usualWindow is that of the model "usual", in tokens.
const usualWindow = 200_000

// newWorld makes a home whose configuration names the model server, and a small
// project.
func newWorld(parent, url string) (*world, error) {
	root, err := os.MkdirTemp(parent, "scorel-bench-")
	if err != nil {
		return nil, err
	}
	w := &world{root: root, home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	config := fmt.Sprintf(`[model]
name = "mock"

[models.mock]
type = "custom"
api = "anthropic-messages"
baseUrl = %q
id = "mock"
contextWindow = %d
maxTokens = 8000

[models.usual]
type = "custom"
api = "anthropic-messages"
baseUrl = %q
id = "mock"
contextWindow = %d
maxTokens = 8000
`, url, hugeWindow, url, usualWindow)
	files := map[string]string{
		filepath.Join(w.home, ".scorel", "config.toml"): config,
		filepath.Join(w.work, "AGENTS.md"):              "Use short names.\n",
		filepath.Join(w.work, "notes.txt"):              strings.Repeat("one line of notes about nothing in particular\n", 200),
	}
	for i := range 40 {
		name := filepath.Join(w.work, "src", fmt.Sprintf("part%d", i%5), fmt.Sprintf("file%02d.go", i))
		files[name] = fmt.Sprintf("package part%d\n\n", i%5) + strings.Repeat("// A line of comment that says little.\nfunc f() int { return 1 }\n\n", 60)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *world) remove() { _ = os.RemoveAll(w.root) }

// environ is the whole environment of the binary.
func (w *world) environ() []string {
	return []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TMPDIR=" + w.root}
}

// session lets a child write a session and returns its id and file.
func (w *world) session(events int, compact bool) (id, file string, err error) {
	return w.sessionOf(events, 0, compact)
}

// sessionOf is session with results of that many bytes (0: 1 KB).
func (w *world) sessionOf(events, result int, compact bool) (id, file string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	out, err := exec.Command(self, "session", "-dir", filepath.Join(w.home, ".scorel"), "-work", w.work,
		"-events", fmt.Sprint(events), "-result", fmt.Sprint(result), fmt.Sprintf("-compact=%t", compact)).Output()
	if err != nil {
		return "", "", fmt.Errorf("write a session: %w", err)
	}
	var made struct{ ID, File string }
	if err := json.Unmarshal(out, &made); err != nil {
		return "", "", err
	}
	return made.ID, made.File, nil
}
