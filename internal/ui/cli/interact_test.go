package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"scorel/internal/ui/exit"
	"strings"
	"syscall"
	"testing"
	"time"
)

// talking is a scorel -p with both formats stream-json, and what it has printed.
type talking struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.Closer
	lines   chan string
	printed []string
	home    string
	project string
}

// talk starts the program with a model that answers with the lines of a script.
func talk(t *testing.T, script []string, args ...string) *talking {
	t.Helper()
	return talkIn(t, nil, script, args...)
}

// talkIn is talk in a home with files.
func talkIn(t *testing.T, files map[string]string, script []string, args ...string) *talking {
	t.Helper()
	dir := t.TempDir()
	w := &talking{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), lines: make(chan string, 1)}
	for _, d := range []string{w.home, w.project} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		name = filepath.Join(w.home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(name, []byte("{\"script\":1}\n"+strings.Join(script, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start(append([]string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--model", "script:" + name}, args...)...)
	return w
}

func (w *talking) start(args ...string) {
	w.t.Helper()
	w.cmd = exec.Command("scorel", args...) // the test's own binary, which TestMain puts on the PATH
	w.cmd.Dir, w.cmd.Env = w.project, append(os.Environ(), "HOME="+w.home)
	w.cmd.Stderr = os.Stderr
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	w.out = out
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	go func() { // ends with the program
		defer close(w.lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 8<<20)
		for s.Scan() {
			w.lines <- s.Text()
		}
	}()
}

func (w *talking) say(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *talking) send(text string) {
	w.say(`{"type":"send_message","content":[{"type":"text","text":"` + text + `"}]}`)
}

// until reads lines until one holds all of the texts, and gives it decoded.
func (w *talking) until(texts ...string) map[string]any {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				w.t.Fatalf("it ended before %q:\n%s", texts, strings.Join(w.printed, "\n"))
			}
			w.printed = append(w.printed, line)
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				w.t.Fatalf("%q is not JSON: %v", line, err)
			}
			found := true
			for _, x := range texts {
				found = found && strings.Contains(line, x)
			}
			if found {
				return v
			}
		case <-deadline:
			w.t.Fatalf("waited %v for %q:\n%s", patience, texts, strings.Join(w.printed, "\n"))
		}
	}
}

// end closes the input and returns the result and the exit code.
func (w *talking) end() (map[string]any, int) {
	w.t.Helper()
	if err := w.in.Close(); err != nil {
		w.t.Fatal(err)
	}
	res := w.until(`{"type":"result"`)
	if line, ok := <-w.lines; ok {
		w.t.Errorf("behind the result comes %s", line)
	}
	var exit *exec.ExitError
	if err := w.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return res, w.cmd.ProcessState.ExitCode()
}

const callsBash = `{"do":[{"call":"Bash","id":"c1","input":{"command":"touch made"}}],"stop":"tool_use"}`

func (w *talking) made() bool {
	_, err := os.Stat(filepath.Join(w.project, "made"))
	return err == nil
}

func TestInputAnswersAPermissionQuestion(t *testing.T) {
	for _, c := range []struct {
		name, choice   string
		made, remember bool
	}{{"allow", "0", true, false}, {"deny", "-1", false, false}, {"always", "2", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			w := talk(t, []string{callsBash, `{"do":[{"text":"done"}]}`})
			w.send("make it")
			q := w.until(`"type":"permission_request"`)
			offered := q["suggestions"].([]any)
			if scope := offered[len(offered)-1].(map[string]any)["scope"]; scope != "always" || len(offered) != 3 {
				t.Fatalf("offered are %v", offered)
			}
			w.say(`{"type":"answer_permission","permissionId":"` + q["permissionId"].(string) + `","choice":` + c.choice + `,"reason":"because"}`)
			w.until(`"type":"response"`)
			res, code := w.end()
			if code != exit.OK || res["result"] != "done" || w.made() != c.made {
				t.Errorf("exit %d, made %v, %v", code, w.made(), res)
			}
			rules, _ := os.ReadFile(filepath.Join(w.home, ".scorel", "rules.json"))
			if got := strings.Contains(string(rules), "Bash("); got != c.remember {
				t.Errorf("a rule is remembered: %v\n%s", got, rules)
			}
			if denials := res["permissionDenials"].([]any); (len(denials) == 1) == c.made {
				t.Errorf("denials: %v", denials)
			}
		})
	}
}

func TestInputAnswersAQuestionOfTheModel(t *testing.T) {
	ask := `{"do":[{"call":"AskUser","id":"q1","input":{"questions":[{"question":"Which?","options":[{"label":"red"},{"label":"blue"}]}]}}],"stop":"tool_use"}`
	w := talk(t, []string{ask, `{"if":{"result":"Answer: blue"},"do":[{"text":"blue it is"}]}`})
	w.send("ask me")
	q := w.until(`"type":"ui_request"`)
	w.say(`{"type":"answer_ui","uiId":"` + q["uiId"].(string) + `","value":["blue"]}`)
	w.until(`"type":"response"`)
	w.say(`{"type":"answer_ui","uiId":"` + q["uiId"].(string) + `","value":["red"]}`)
	w.until(`"type":"error"`, `"code":"conflict"`)
	if res, code := w.end(); code != exit.OK || res["result"] != "blue it is" {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestEndOfInputEndsWhatRunsInTheBackground(t *testing.T) {
	start := `{"do":[{"call":"Bash","id":"b1","input":{"command":"echo $$ > pid; exec sleep 1000","run_in_background":true}}],"stop":"tool_use"}`
	w := talk(t, []string{start, `{"do":[{"text":"it runs"}]}`}, "--allowed-tools", "Bash")
	w.send("serve")
	res, code := w.end()
	if ended, _ := res["backgroundEnded"].([]any); code != exit.OK || len(ended) != 1 {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestEndOfInputRefusesAnOpenQuestion(t *testing.T) {
	w := talk(t, []string{callsBash, `{"do":[{"text":"not done"}]}`})
	w.send("make it")
	w.until(`"type":"permission_request"`)
	res, code := w.end()
	if code != exit.Unasked || res["result"] != "not done" || w.made() || len(res["permissionDenials"].([]any)) != 1 {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestInputSteersARunningTurnAndFollowsUp(t *testing.T) {
	w := talk(t, []string{`{"do":[{"call":"Bash","id":"c1","input":{"command":"touch begun; while [ ! -e go ]; do sleep 0.02; done"}}],"stop":"tool_use"}`,
		`{"if":{"result":"left"},"do":[{"text":"I turn left."}]}`, `{"if":{"user":"and then"},"do":[{"text":"Then right."}]}`}, "--allowed-tools", "Bash", "go on")
	w.until(`"type":"tool_execution_start"`)
	w.say(`{"type":"steer","requestId":"req_00000000000000000000000000","content":[{"type":"text","text":"turn left"}]}`)
	if r := w.until(`"type":"response"`); r["requestId"] != "req_00000000000000000000000000" {
		t.Errorf("the answer is %v", r)
	}
	w.say(`{"type":"follow_up","content":[{"type":"text","text":"and then?"}]}`)
	w.until(`"type":"response"`, "itm_")
	w.say(`{"type":"get_path","limit":1}`)
	w.until(`"type":"response"`, `"events":`)
	if err := os.WriteFile(filepath.Join(w.project, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	res, code := w.end() // while the turn runs
	if code != exit.OK || res["result"] != "Then right." || res["numTurns"] != 2.0 {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestInputGoesOnAfterATurnThatWasCancelled(t *testing.T) {
	w := talk(t, []string{`{"if":{"user":"there"},"do":[{"text":"I am still here."}]}`,
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"sleep 300"}}],"stop":"tool_use"}`}, "--allowed-tools", "Bash")
	w.send("wait")
	turn := w.until(`"type":"tool_execution_start"`)["turnId"].(string)
	w.say(`{"type":"cancel","requestId":"req_00000000000000000000000001","turnId":"` + turn + `"}`)
	w.until(`"type":"runtime_end"`, `"cancelled"`)
	w.answered("req_00000000000000000000000001")
	w.send("are you there?")
	w.until(`"type":"runtime_end"`, `"completed"`)
	if res, code := w.end(); code != exit.OK || res["result"] != "I am still here." {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestInputThatIsNoRequestIsToldAndGoesOn(t *testing.T) {
	w := talk(t, []string{`{"do":[{"text":"done"}]}`})
	for line, want := range map[string]string{
		`garbage`:                         "The line is not valid JSON",
		`[1]`:                             "The line is not a JSON object",
		`null`:                            "but null",
		`{"type":"fly"}`:                  `There is no request named \"fly\"`,
		`{"type":"cancel","turnId":7}`:    "it is a number and should be a text",
		`{"type":"ping","requestId":"x"}`: "requestId",
		`{"type":"get_context","sessionId":"ses_06gvgpgd01lecu1v9uuui6ren2"}`:                             "This run works in the session",
		`{"type":"create_session","projectId":"p"}`:                                                       "makes another session",
		`{"type":"clone_session","fromSessionId":"ses_06gvgpgd01lecu1v9uuui6ren2"}`:                       "makes another session",
		`{"type":"close_session"}`:                                                                        "end the input",
		`{"type":"delete_session"}`:                                                                       "end the input",
		`{"type":"answer_permission","permissionId":"prm_0000000000000000","choice":0}`:                   "no longer open",
		`{"type":"steer","turnId":"trn_0000000000000000","content":[{"type":"text","text":"x"}]}`:         "has ended",
		`{"type":"send_message","content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}`: "more than 1048576 bytes",
	} {
		w.say(line)
		if r := w.until(`{"type":"error"`); !strings.Contains(r["message"].(string), strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("%.80s is answered by %v, want %s", line, r, want)
		}
	}
	w.say("")
	w.say("{")
	if r := w.until(`{"type":"error"`); !strings.HasPrefix(r["message"].(string), "Line 16: ") {
		t.Errorf("the line is not named: %v", r)
	}
	w.say(`{"type":"ping"}`)
	w.until(`{"type":"response"`)
	w.send("go on")
	w.until(`"type":"runtime_end"`)
	if res, code := w.end(); code != exit.OK || res["result"] != "done" {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestWhatIsSentBehindACompactionComesBehindIt(t *testing.T) {
	w := talk(t, []string{`{"again":true,"do":[{"text":"done"}]}`, `{"again":true,"if":{"kind":"compact"},"do":[{"text":"the story so far"}]}`})
	for range 10 {
		w.say(`{"type":"compact"}` + "\n" + `{"type":"compact"}` + "\n" + `{"type":"send_message","content":[{"type":"text","text":"go on"}]}`)
		w.until(`"type":"turn_end"`)
		w.until(`"type":"runtime_end"`)
	}
	if res, code := w.end(); code != exit.OK || res["result"] != "done" {
		t.Errorf("exit %d, %v", code, res)
	}
	if all := strings.Join(w.printed, "\n"); strings.Contains(all, `"type":"error"`) {
		i := strings.Index(all, `"type":"error"`)
		t.Errorf("something was refused: %.500s", all[max(0, i-1):])
	}
}

func TestInputWithoutARequestIsWrongUsage(t *testing.T) {
	w := talk(t, nil)
	if res, code := w.end(); code != exit.Usage || !strings.Contains(res["error"].(map[string]any)["message"].(string), "held no request") {
		t.Errorf("exit %d, %v", code, res)
	}
	w = talk(t, nil)
	w.say(`{"type":"get_context"}`)
	w.until(`{"type":"response"`)
	if res, code := w.end(); code != exit.OK || res["terminal"] != "completed" {
		t.Errorf("a read alone: exit %d, %v", code, res)
	}
}

func TestInterruptEndsTheInputAndCancels(t *testing.T) {
	w := talk(t, []string{callsBash})
	w.send("make it")
	w.until(`"type":"permission_request"`)
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	res := w.until(`{"type":"result"`)
	_ = w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code != exit.Cancelled || res["terminal"] != "cancelled" || w.made() {
		t.Errorf("exit %d, %v", code, res)
	}
}

// leaves starts a command in the background and then waits for one.
func leaves() []string {
	return []string{`{"do":[{"call":"Bash","id":"b1","input":{"command":"echo $$ > pid; exec sleep 1000","run_in_background":true}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Bash","id":"b2","input":{"command":"echo $$ > waits; sleep 0.2; echo more; sleep 0.2; echo more; exec sleep 1000"}}],"stop":"tool_use"}`}
}

// ends waits until a process whose id a file of the project holds has ended.
func (w *talking) ends(name string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.project, name))
	pid := strings.TrimSpace(string(data))
	if err != nil || pid == "" {
		w.t.Fatalf("%s: %q %v", name, data, err)
	}
	for deadline := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: process %s is left running", name, pid)
		}
	}
}

func TestTheEndOfTheTerminalEndsWhatRuns(t *testing.T) {
	// What nohup has had ignored its children ignore; what is caught here they do not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	w := talk(t, leaves(), "--allowed-tools", "Bash", "--sandbox", "off", "go")
	w.until(`"type":"tool_execution_start"`, `"toolCallId":"b2"`)
	w.until(`"type":"tool_execution_update"`, `more`)
	if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	res := w.until(`{"type":"result"`)
	_ = w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code != exit.Cancelled || res["terminal"] != "cancelled" {
		t.Errorf("exit %d, %v", code, res)
	}
	w.ends("pid")
	w.ends("waits")
}

func TestAReaderThatGoesAwayEndsWhatRuns(t *testing.T) {
	w := talk(t, leaves(), "--allowed-tools", "Bash", "--sandbox", "off", "go")
	w.until(`"type":"tool_execution_update"`, `more`)
	if err := w.out.Close(); err != nil {
		t.Fatal(err)
	}
	_ = w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code != exit.Pipe {
		t.Errorf("exit %d of %v", code, w.cmd.ProcessState)
	}
	w.ends("pid")
	w.ends("waits")
}

// TestInputThatEndsAtOnceLosesNoMessage sends and ends in one write, so that the
// end comes before the turn has begun.
func TestInputThatEndsAtOnceLosesNoMessage(t *testing.T) {
	for range 5 {
		w := talk(t, []string{`{"if":{"user":"first"},"do":[{"text":"one"}]}`, `{"if":{"user":"second"},"do":[{"text":"two"}]}`})
		w.send("first")
		w.send("second")
		if res, code := w.end(); code != exit.OK || res["result"] != "two" || res["numTurns"] != 2.0 {
			t.Fatalf("exit %d, %v\n%s", code, res, strings.Join(w.printed, "\n"))
		}
	}
}
