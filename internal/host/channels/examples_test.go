package channels_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/host/channels/senders"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
)

func TestTheExampleInPythonPushesTheLinesOfAFile(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing")
	}
	script, err := filepath.Abs("../../../examples/channels/tail.py")
	if err != nil {
		t.Fatal(err)
	}
	w := hosttest.New(t, named("server:build"), always)
	configure(w, fmt.Sprintf(`"build":{"command":%q,"args":[%q,"build.log"]}`, python, script))
	w.File("build.log", "old\n")
	e := listens(w, true)
	w.File("build.log", "old\nThe build is red.\n")
	e.End()
	events, _ := injected(w, e.ID)
	if want := "<channel source=\"build\" file=\"build.log\">\nThe build is red.\n</channel>"; events[0].Content != want {
		t.Errorf("%q has come", events[0].Content)
	}
}

func TestTheExampleWithAnAddressPushesWhatIsPosted(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing")
	}
	hook := exec.Command(python, "../../../examples/channels/hook.py", "0")
	out, err := hook.StdoutPipe()
	if err == nil {
		err = hook.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hook.Process.Kill(); _ = hook.Wait() })
	at, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at = strings.TrimSpace(at)
	w := hosttest.New(t, named("server:hook"), always)
	configure(w, fmt.Sprintf(`"hook":{"type":"http","url":%q}`, at+"/mcp"))
	e := listens(w, true)
	res, err := http.Post(at+"/hook", "text/plain", strings.NewReader("The build is red."))
	if err != nil || res.StatusCode != http.StatusNoContent {
		t.Fatal(res, err)
	}
	res.Body.Close()
	e.End()
	events, _ := injected(w, e.ID)
	if want := "<channel source=\"hook\">\nThe build is red.\n</channel>"; events[0].Content != want {
		t.Errorf("%q has come", events[0].Content)
	}
}

func TestTheExampleInGoPairsAnswersAndPassesPermissionsOn(t *testing.T) {
	dir := t.TempDir()
	if err := harness.Sources(); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "chat"), "../../../examples/channels/chat.go")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w := hosttest.New(t, named("server:chat"), `{"do":[{"text":"hi"}]}`,
		`{"if":{"user":"are you there"},"do":[{"call":"mcp__chat__reply","id":"c1","input":{"user_id":"ann","text":"I am."}}]}`, always)
	socket := filepath.Join(dir, "s")
	configure(w, fmt.Sprintf(`"chat":{"command":%q,"args":[%q],"alwaysLoad":true}`, filepath.Join(dir, "chat"), socket))
	e := listens(w, false)
	var c net.Conn
	w.Eventually("it listens", func() (ok bool) {
		var err error
		c, err = net.Dial("unix", socket)
		return err == nil
	})
	defer c.Close()
	in := bufio.NewReader(c)
	line := func() string {
		t.Helper()
		if err := c.SetReadDeadline(time.Now().Add(hosttest.Patience)); err != nil {
			t.Fatal(err)
		}
		text, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	fmt.Fprint(c, "ann\nhello\n")
	code := regexp.MustCompile(`\d{6}`).FindString(line())
	store := senders.Store{FS: disk.OS(), File: filepath.Join(w.Home, ".scorel", "channels.json"), Now: time.Now}
	if who, err := store.Pair(code); err != nil || who.ID != "ann" {
		t.Fatalf("%+v %v", who, err)
	}
	fmt.Fprintln(c, "are you there?")
	asks := line()
	if !strings.Contains(asks, "May it run mcp__chat__reply") {
		t.Errorf("the chat is asked %q", asks)
	}
	fmt.Fprintln(c, "yes", regexp.MustCompile(`n ([a-z]{5})\.`).FindStringSubmatch(asks)[1])
	if got := line(); got != "I am.\n" {
		t.Errorf("the answer is %q", got)
	}
	e.End()
}
