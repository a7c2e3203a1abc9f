package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// burglar tries everything by which a command could come to control the host, and
// says what it got. Its variables are where the host is.
const burglar = `pid=%d port=%s dir=%s
got() { echo "GOT $1."; }
for d in "$dir" "/proc/$pid/root$dir" "/proc/1/root$dir"; do
  for f in host.header host.json host.key device.json client.json config.toml; do [ -s "$d/$f" ] && got "$f"; done 2>/dev/null
  echo x 2>/dev/null >"$d/planted" && got planting
done
for f in $(find /tmp /var/tmp /dev/shm "$TMPDIR" -xdev -samefile "$dir/host.header" 2>/dev/null); do [ "$f" = "$dir/host.header" ] || got "a link $f"; done
cat "/proc/$pid/environ" 2>/dev/null | grep -q CANARY && got environ
env | grep -q CANARY && got inheritance
{ true <"/proc/$pid/mem"; } 2>/dev/null && got memory
readlink "/proc/$pid/fd/0" >/dev/null 2>&1 && got descriptors
for f in /proc/self/fd/*; do case $(readlink "$f") in socket:*|*host.*) got "descriptor $f";; esac; done
kill -0 "$pid" 2>/dev/null && got signal
kill -s USR1 "$pid" 2>/dev/null && got "token signal"
curl -sS -m 5 --unix-socket "$dir/host.sock" http://x/healthz 2>/dev/null | grep -q ok && got socket
[ "$(curl -s -m 5 -o /dev/null -w '%%{http_code}' "http://127.0.0.1:$port/v1/status")" = 200 ] && got status
curl -s -m 5 "http://127.0.0.1:$port/healthz" | grep -q ok && echo REACHED.
echo DONE.
`

func TestACommandOfASessionDoesNotReachTheHostsControl(t *testing.T) {
	for name, tc := range map[string]struct {
		sandbox string
		network bool
	}{
		"workspace-write": {"[sandbox]\nmode = \"workspace-write\"\n", true},
		"read-only":       {"[sandbox]\nmode = \"read-only\"\n", true},
		"no network":      {"[sandbox]\nnetwork = false\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStation(t, `{"if":{"user":"begin"},"do":[{"text":"Hello."}]}`, `{"do":[{"call":"Bash","id":"c1","input":{"command":"bash burglar.sh 2>&1"}}],"stop":"tool_use"}`, `{"again":true,"do":[{"text":"well"}]}`)
			s.file(".scorel/config.toml", s.read(".scorel/config.toml")+"[permissions]\nallow = [\"Bash\"]\n"+tc.sandbox)
			id := s.session()
			s.environ = append(s.environ, "SCOREL_SECRET=CANARY")
			s.ok("host", "serve", "--detach", "--listen", "127.0.0.1:0")
			info := s.info()
			s.file("project/burglar.sh", fmt.Sprintf(burglar, info.PID, info.Addresses[1][strings.LastIndex(info.Addresses[1], ":")+1:], filepath.Join(s.home, ".scorel")))

			// Without a sandbox it gets in: so the ways that it tries are ways.
			free := exec.Command("bash", "burglar.sh")
			free.Dir, free.Env = s.project, append(os.Environ(), "SCOREL_SECRET=CANARY")
			out, err := free.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, way := range []string{"host.header", "planting", "environ", "inheritance", "descriptors", "signal", "socket"} {
				if !strings.Contains(string(out), "GOT "+way+".") {
					t.Errorf("outside of the sandbox the way %q is closed too:\n%s", way, out)
				}
			}

			s.ok("send", id, "--wait", "go on")
			log := s.read(filepath.Join(".scorel/sessions", id+".jsonl"))
			if !strings.Contains(log, "DONE.") || strings.Contains(log, "REACHED.") != tc.network {
				t.Errorf("the command did not do what it should, or the network is not as it should be:\n%s", log)
			}
			for _, got := range regexp.MustCompile(`GOT [^.]*(\.\w+)?`).FindAllString(log, -1) {
				t.Errorf("a command of a session %s", got)
			}
			if got := s.ok("host", "status", "--json"); !strings.Contains(got, fmt.Sprintf(`"pid":%d`, info.PID)) {
				t.Errorf("the host does not go on: %s", got)
			}
		})
	}
}

func TestACallOfAnotherProgramRunsInTheSandboxAndDoesNotReachTheTokenOfTheServer(t *testing.T) {
	s := newStation(t)
	s.file(".scorel/config.toml", s.read(".scorel/config.toml")+"[permissions]\nallow = [\"Bash\"]\n")
	url, _, _ := s.serveHTTP("--tools", "coding")
	c := s.over(url)
	outside := filepath.Join(s.home, "outside")
	command := fmt.Sprintf("sh -c 'find %s -name mcp-serve\\* -exec cat {} +; echo x > %s; echo x > inside; echo DONE'", s.home, outside)
	r := c.call("Bash", map[string]any{"command": command}, nil)
	if text := textOf(r); !strings.Contains(text, "DONE") || strings.Contains(text, "Bearer") || s.exists("outside") || !s.exists("project/inside") {
		t.Errorf("%s", text)
	}
	r = c.call("Read", map[string]any{"path": filepath.Join(s.home, ".scorel", "mcp-serve.header")}, nil)
	if !r.IsError || strings.Contains(textOf(r), "Bearer") {
		t.Errorf("%s", textOf(r))
	}
}
