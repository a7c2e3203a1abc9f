package extension

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

func TestProgramThatDoesNotSpeakTheProtocolFailsAtItsFirstLine(t *testing.T) {
	for _, line := range []string{"Listening on port 8080", `{"time":1}`, "the key is topsecret"} {
		w := newWorld(t)
		w.command("server", "sh", "-c", "echo '"+line+"'; exec sleep 1000")
		returns(t, "the start", func() { w.load() })
		e := w.info("server")
		if e.State != protocol.ExtensionFailed || !strings.Contains(e.Problem, "begins with a line that is not a message of the protocol") || !strings.Contains(e.Problem, line[2:6]) || strings.Contains(e.Problem, "topsecret") {
			t.Errorf("%+v", e)
		}
	}
}

func TestProgramThatEndsAtOnceIsNamedWithItsStatusAndLastWords(t *testing.T) {
	w := newWorld(t)
	w.command("words", "sh", "-c", "echo first >&2; printf 'no module \\033[1mwords, topsecret' >&2; exit 7")
	returns(t, "the start", func() { w.load() })
	e := w.info("words")
	const want = `its process ended with status 7 before it answered initialize; the last that it wrote to stderr is "no module \x1b[1mwords, [key]".`
	if e.State != protocol.ExtensionFailed || e.Problem != want {
		t.Errorf("%+v", e)
	}
	if told := w.told(); len(told) != 1 || told[0] != "The extension words is not loaded: "+want {
		t.Errorf("%q", told)
	}
}

// TestNothingOfAProcessIsOpenWhenItHasEnded: the collector of garbage, which closes what was
// forgotten, does not run.
func TestNothingOfAProcessIsOpenWhenItHasEnded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	w := newWorld(t)
	w.command("words", "sh", "-c", "echo first >&2; exit 7")
	w.load()
	open := descriptors()
	for range 5 {
		w.set.Reload(t.Context())
	}
	if e := w.info("words"); e.State != protocol.ExtensionFailed {
		t.Errorf("%+v", e)
	}
	harness.Until(t, "its descriptors are closed", func() bool { return descriptors() <= open })
}

// descriptors counts what this process has open; 0 where the system does not say.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

func TestPeopleAreToldWhomTheSessionWaitsFor(t *testing.T) {
	w := newWorld(t)
	w.command("silent", "sleep", "1000")
	w.make()
	loaded := make(chan error, 1)
	go func() { loaded <- w.set.Load(t.Context()) }()
	const want = "The session waits for the extension silent, which has been started and does not answer yet."
	harness.Until(t, "the notice", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.Contains(w.notices, want)
	})
	returns(t, "the end of the session", w.set.Close) // it does not wait for the time that a start may take
	if err := <-loaded; err != nil {
		t.Error(err)
	}
	if told := w.told(); len(told) > 0 {
		t.Errorf("%q", told)
	}
}

func TestErrorsAndLinesOfAnExtensionAreToldWithoutSecrets(t *testing.T) {
	w := newWorld(t)
	r := hooks("tool_call")
	r.Tools, r.Commands = tools("first").Tools, commands("go")
	w.js("one", script{r, map[string]string{"tool first": "fail 401 for topsecret", "command go": "fail 402 for topsecret", "hook tool_call": "fail 403 for topsecret",
		"event log": `note log {"ext":"one","level":"error","message":"404 for topsecret"}`}})
	w.js("two", script{On: map[string]string{"load": "fail 405 for topsecret"}})
	w.load()
	_, tool := w.runTool("first", nil)
	_, command := w.set.Commands()[0].Run(t.Context(), "")
	_, err := w.subscriber("one").BeforeTool(t.Context(), hookCall())
	for code, err := range map[string]error{"401": tool, "402": command, "403": err} {
		if err == nil || !strings.Contains(err.Error(), code+" for [key]") {
			t.Errorf("%s: %v", code, err)
		}
	}
	if e := w.info("two"); !strings.Contains(e.Problem, "405 for [key]") {
		t.Errorf("%+v", e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if all := strings.Join(append(w.notices, w.reports...), "\n"); strings.Contains(all, "topsecret") {
		t.Error(all)
	}
}

func TestWhatAnExtensionIsCalledHasNothingThatATerminalObeys(t *testing.T) {
	w := newWorld(t)
	r := tools("first", "sec\x1bond")
	r.Name, r.Version = "One\x1b[2J\nTwo", "1\r"
	r.Commands = append(commands("go", "st\x07op", "a\u202eb"), r.Commands...)
	r.Commands[0].Description = "does\x1b]0;title\x07 it"
	r.Unsupported = []string{"draws\x1b[2J " + strings.Repeat("much ", 1000)}
	w.js("one", script{r, map[string]string{}})
	w.load()
	e := w.info("one")
	if e.Name != "One Two" || strings.ContainsAny(e.Version, "\r") || !slices.Equal(e.Tools, []string{"first"}) || !slices.Equal(e.Commands, []string{"go"}) {
		t.Errorf("%+v", e)
	}
	if len(e.Unsupported) == 0 || !strings.HasPrefix(e.Unsupported[0], "draws much much") || len(e.Unsupported[0]) > 600 {
		t.Errorf("%q", e.Unsupported)
	}
	if got := w.set.Commands()[0].Description; got != "does[U+001B]]0;title it" {
		t.Errorf("%q", got)
	}
}
