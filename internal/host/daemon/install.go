package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
)

// UnitName is the systemd service of the host.
const UnitName = "scorel.service"

// unitMark is the first line of a unit that scorel host install wrote: no other is replaced or
// removed.
const unitMark = "# Written by scorel host install; scorel host uninstall removes it."

// managerTime is how long systemctl may take.
const managerTime = 30 * time.Second

// maxSaid bounds what is read of its words, in bytes.
const maxSaid = 4 << 10

// Unit returns the systemd user unit for a host that program serves with args after "host
// serve" (systemd.service(5)).
func Unit(program string, args []string) string {
	words := []string{quoteUnit(program), "host", "serve", "--supervised", "--replace"}
	for _, a := range args {
		words = append(words, quoteUnit(a))
	}
	return unitMark + `
[Unit]
Description=Scorel, the host of coding agents
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=notify
ExecStart=` + strings.Join(words, " ") + fmt.Sprintf(`
Restart=on-failure
RestartSec=%d
RestartPreventExitStatus=%d
TimeoutStopSec=%d
KillMode=mixed

[Install]
WantedBy=default.target
`, int(restartFirst.Seconds()), PermanentExit, int(stopGrace.Seconds()))
}

// quoteUnit writes a word of a command line of a unit.
func quoteUnit(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(word) + `"`
}

// Agent returns a launchd property list for the same host on macOS (launchd.plist(5)).
func Agent(program string, args []string) string {
	var words strings.Builder
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for _, a := range append([]string{program, "host", "serve", "--supervised", "--replace"}, args...) {
		words.WriteString("    <string>" + escape.Replace(a) + "</string>\n")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>scorel.host</string>
  <key>ProgramArguments</key>
  <array>
` + words.String() + `  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>35</integer>
</dict>
</plist>
`
}

// UnitFile returns where the unit of a user is: below $XDG_CONFIG_HOME, else ~/.config.
func UnitFile(home string, environ []string) string {
	dir := filepath.Join(home, ".config")
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, "XDG_CONFIG_HOME="); ok && filepath.IsAbs(value) {
			dir = value
		}
	}
	return filepath.Join(dir, "systemd", "user", UnitName)
}

// Lingers reports whether what systemd runs for this user goes on without a login. systemd-logind
// keeps a file named like the user for that, below root, which is "/" but in tests.
func Lingers(root string) bool {
	u, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(root, "var/lib/systemd/linger", u.Username))
	return err == nil
}

// Install writes the unit and has systemd start the host now and at each login. With an error
// of systemd, which is a [ManagerError], the unit is written all the same.
func Install(ctx context.Context, file, unit string, environ []string) error {
	if old, err := os.ReadFile(file); err == nil && !strings.HasPrefix(string(old), unitMark) {
		return fmt.Errorf("%s is there and was not written by scorel host install; move it away first", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := disk.WriteFile(disk.OS(), file, []byte(unit)); err != nil {
		return err
	}
	return manage(ctx, environ, []string{"daemon-reload"}, []string{"enable", "--now", UnitName})
}

// Uninstall stops the host that systemd runs and removes the unit; it reports false when there
// is none.
func Uninstall(ctx context.Context, file string, environ []string) (bool, error) {
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !strings.HasPrefix(string(old), unitMark):
		return false, fmt.Errorf("%s was not written by scorel host install; remove it yourself", file)
	}
	stopped := manage(ctx, environ, []string{"disable", "--now", UnitName})
	if err := os.Remove(file); err != nil {
		return false, err
	}
	if stopped != nil {
		return true, stopped
	}
	return true, manage(ctx, environ, []string{"daemon-reload"})
}

// ManagerError says that systemd could not be asked, or refused.
type ManagerError struct{ Text string }

func (e *ManagerError) Error() string { return e.Text }

// manage runs systemctl --user with each list of arguments.
func manage(ctx context.Context, environ []string, calls ...[]string) error {
	ctx, stop := context.WithTimeout(ctx, managerTime)
	defer stop()
	for _, args := range calls {
		p, err := sandbox.StartHelper(ctx, sandbox.Helper{Path: "systemctl", Args: append([]string{"--user"}, args...), Env: environ, Dir: "/"})
		if err != nil {
			return &ManagerError{err.Error()}
		}
		_ = p.Stdin.Close()
		go func() { // ends with the program
			defer p.Stdout.Close()
			_, _ = io.Copy(io.Discard, p.Stdout)
		}()
		said, _ := io.ReadAll(io.LimitReader(p.Stderr, maxSaid))
		_ = p.Stderr.Close() // what is over the limit is not wanted
		if err := p.Wait(); err != nil {
			text, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
			if text == "" {
				text = err.Error()
			}
			return &ManagerError{"systemctl --user " + strings.Join(args, " ") + ": " + text}
		}
	}
	return nil
}
