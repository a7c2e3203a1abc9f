package webcmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
)

const (
	// webDir is the folder of redirect files in that of Scorel.
	webDir = "web"
	// browserWait is how long the command that opens a browser has to fail.
	browserWait = 3 * time.Second
	// fileTime is how long a redirect file may lie there: as long as its code counts.
	fileTime = time.Minute
)

// writeRedirect makes the file that leads a browser to an address with a code, so that the
// code is in no argument of a process; only this user can read it. Files that an earlier
// command left are removed.
func writeRedirect(scorel, address string) (name string, err error) {
	dir := filepath.Join(scorel, webDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", err
	}
	left, _ := filepath.Glob(filepath.Join(dir, "open-*.html"))
	for _, old := range left {
		if info, err := os.Lstat(old); err == nil && time.Since(info.ModTime()) > fileTime {
			_ = os.Remove(old) // it is worth nothing any more
		}
	}
	page := `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Scorel</title>
<meta http-equiv="refresh" content="0;url=` + html.EscapeString(address) + `"></head>
<body><p><a href="` + html.EscapeString(address) + `">Open Scorel</a></p></body></html>
`
	name = filepath.Join(dir, "open-"+rand.Text()+".html")
	return name, disk.WriteFile(disk.OS(), name, []byte(page))
}

// errNoBrowser says that there is nothing that would open a browser.
var errNoBrowser = errors.New("there is no desktop here with a browser")

// openBrowser opens a file in the person's browser. Variables of Scorel are none of the browser's
// business: tokens are in some.
func (c *commands) openBrowser(file string) error {
	env := sandbox.Environ(c.Environ, func(name string) bool { return strings.HasPrefix(name, "SCOREL_") })
	command := "xdg-open"
	if runtime.GOOS == "darwin" {
		command = "open"
	} else if !slices.ContainsFunc(env, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return value != "" && (name == "DISPLAY" || name == "WAYLAND_DISPLAY" || name == "BROWSER")
	}) {
		return errNoBrowser
	}
	if err := sandbox.Detached(sandbox.Cmd{Path: command, Args: []string{file}, Dir: "/", Env: env}, browserWait); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	return nil
}
