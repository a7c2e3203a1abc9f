package extension

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// shell writes an extension that is a shell script. hello answers initialize.
func (w *world) shell(id, body string) {
	w.t.Helper()
	w.put(id+"/scorel.extension.json", `{"kind":"process","command":["sh","./main.sh"]}`)
	w.put(id+"/main.sh", "hello='{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":1}}'\nload='{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\""+id+"\",\"description\":\"x\"}]}}'\n"+body+"\n")
}

// TestProgramThatDoesNotSpeakTheProtocolIsEndedAndNamed tries what a program may do
// instead. Nothing of it may hang, or take memory for ever.
func TestProgramThatDoesNotSpeakTheProtocolIsEndedAndNamed(t *testing.T) {
	for name, c := range map[string]struct{ body, problem string }{
		"ends at once":           {"exit 3", "its process ended with status 3"},
		"another version":        {`read x; echo '{"jsonrpc":"2.0","id":1,"result":{"protocol":7}}'; read x`, "version 7"},
		"an error":               {`read x; echo '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"not today"}}'; read x`, "not today"},
		"a line that never ends": {`read x; exec tr '\0' x </dev/zero`, "bytes"},
		"asks and never reads":   {`read x; while :; do echo '{"jsonrpc":"2.0","id":5,"method":"config/get"}'; done | awk '{print; print; print; print}'`, "without reading"},
		"no registration":        {`read x; echo "$hello"; read x; case $x in *state*) read x;; esac; echo '{"jsonrpc":"2.0","id":2,"result":[1]}'; read x`, "not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.shell("bad", c.body)
			w.js("good", script{Registration: tools("first")})
			w.load()
			got := w.info("bad")
			if got.State != protocol.ExtensionFailed && got.State != protocol.ExtensionFound || len(w.told()) != 1 || !strings.Contains(strings.Join(w.told(), " "), c.problem) {
				t.Errorf("%+v; people were told %q", got, w.told())
			}
			if _, err := w.runTool("first", nil); err != nil {
				t.Errorf("the other one: %v", err)
			}
		})
	}
}

func TestNoiseOfAProgramThatSpeaksTheProtocolGoesIntoTheDiagnostics(t *testing.T) {
	w := newWorld(t)
	w.shell("noisy", `echo "a warning" >&2; read x; echo "$hello"; echo "a banner"; read x; case $x in *state*) read x;; esac; echo "$load"; while read x; do :; done`)
	w.load()
	if got := w.info("noisy"); got.State != protocol.ExtensionLoaded {
		t.Fatalf("%+v, %q", got, w.told())
	}
	harness.Until(t, "what it printed", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		all := strings.Join(w.reports, "\n")
		return strings.Contains(all, "a banner") && strings.Contains(all, "a warning")
	})
}

func TestFilesOfAProjectsProgramAreThoseThatWereTrusted(t *testing.T) {
	w := newWorld(t)
	w.shell("one", "exit 0")
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files := map[string]string{}
	for _, name := range []string{"one/main.sh", "one/scorel.extension.json"} {
		if files[name], err = hashFile(root, name); err != nil {
			t.Fatal(err)
		}
	}
	m := &member{Extension: Extension{ID: "one", Root: w.dir, Dir: filepath.Join(w.dir, "one"), Files: files}}
	if err := m.check(); err != nil {
		t.Error(err)
	}
	w.put("one/main.sh", "echo changed")
	if err := m.check(); err == nil || !strings.Contains(err.Error(), "main.sh is not the file that was trusted") {
		t.Errorf("%v", err)
	}
}

func TestWhileItIsBeingLoadedAnExtensionMayNotTouchTheSession(t *testing.T) {
	w := newWorld(t)
	w.shell("early", `read x; echo "$hello"; read x; case $x in *state*) read x;; esac
echo '{"jsonrpc":"2.0","id":7,"method":"session/append","params":{"kind":"m"}}'; read answer; echo "$answer" >&2
echo "$load"; while read x; do :; done`)
	w.call = func(_ context.Context, _ Extension, method string, _ json.RawMessage) (any, error) {
		t.Errorf("%s is carried out", method)
		return nil, nil
	}
	w.load()
	if got := w.info("early"); got.State != protocol.ExtensionLoaded {
		t.Fatalf("%+v, %q", got, w.told())
	}
	harness.Until(t, "the refusal", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Contains(strings.Join(w.reports, "\n"), "cannot be asked for while the extension is being loaded")
	})
}
