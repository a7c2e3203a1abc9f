package cli

import (
	"encoding/json"
	"scorel/internal/ui/exit"
	"strings"
	"syscall"
	"testing"
)

const (
	answersAnything = `{"again":true,"do":[{"text":"An answer."}]}`
	touches         = `{"again":true,"if":{"user":"touch it"},"do":[{"text":"I will touch it."},{"call":"Bash","id":"c1","input":{"command":"touch touched; echo did it"}}]}`
	touched         = `{"again":true,"if":{"result":"did it"},"do":[{"text":"It is touched."}]}`
)

func TestTwoTerminalsAndAScriptShareASession(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"result":"look at b"},"do":[{"text":"Steered to b."}]}`, touches, touched, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	one, two, tail := s.start("attach", id), s.start("attach", id), s.start("tail", "--json", id)
	for _, a := range []*seat{one, two} {
		a.sees("user: begin\nassistant: An answer.\n")
	}
	tail.sees(`{"type":"live"`)
	one.types("touch it")
	for _, a := range []*seat{one, two} {
		a.sees("user: touch it\n")
		a.sees("? Bash touch touched; echo did it\n")
		a.sees("1  Allow once")
		a.sees("0  deny")
	}
	tail.sees(`"type":"permission_request"`)
	two.types("/steer look at b too")
	one.sees("waiting: look at b too")
	one.types("1")
	two.sees("allowed elsewhere\n")
	one.sees("allowed\n")
	for _, a := range []*seat{one, two} {
		a.sees("• Bash touch touched; echo did it\n  did it")
		a.sees("user, into the turn: look at b too\n")
		a.sees("assistant: Steered to b.\n── done")
	}
	if !s.exists("project/touched") {
		t.Error("the command that was allowed has not run")
	}
	tail.sees(`"type":"runtime_end"`)
	if err := tail.cmd.Process.Signal(syscall.SIGTERM); err != nil || tail.ends() != 0 {
		t.Errorf("the end of tail: %v", err)
	}
	for line := range strings.Lines(tail.printed()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("tail printed %q", line)
		}
	}
	one.types("/quit")
	if one.ends() != 0 || !strings.HasSuffix(one.printed(), "scorel: detached. Resume with: scorel attach "+id+"\n") {
		t.Errorf("the end: %s", one.printed())
	}
	if two.in.Close() != nil || two.ends() != 0 {
		t.Errorf("the end of the input: %s", two.printed())
	}
}

func TestWhatIsTypedBehindTheLastAnswerIsAMessage(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"ask me"},"do":[{"call":"AskUser","id":"c3","input":{"questions":[{"question":"Which colour?","options":[{"label":"red"},{"label":"blue"}]}]}}]}`, answersAnything)
	id := s.session()
	one := s.start("attach", id)
	one.types("ask me")
	one.sees("? Which colour?")
	if _, err := one.in.Write([]byte("2\nand now the tests\n")); err != nil {
		t.Fatal(err)
	}
	one.sees("Answer: blue")
	one.sees("user: and now the tests\n")
	one.types("/quit")
	if code := one.ends(); code != 0 {
		t.Errorf("the end: %d\n%s", code, one.printed())
	}
}

func TestEndOfATurnWhoseHostWasKilledIsReported(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"tell"},"do":[{"text":"The beginning of a story"},{"hang":true}]}`, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	tail := s.start("tail", id)
	tail.sees("An answer.")
	wait := s.start("send", "--wait", id, "tell me")
	if err := wait.in.Close(); err != nil { // it takes what is piped in, too
		t.Fatal(err)
	}
	tail.sees("user: tell me\n")
	s.endHost()
	for _, seat := range []*seat{wait, tail} {
		seat.sees("scorel: the connection is gone")
		seat.sees("scorel: no host runs here; scorel host serve --detach starts one\n")
	}
	s.ok("host", "serve", "--detach")
	wait.sees("scorel: connected again\n")
	wait.sees("the turn ended while the host was gone; scorel attach " + id + " shows how far it came")
	if code := wait.ends(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	tail.sees("scorel: connected again\n")
	tail.sees("── the turn ended while the host was gone\n")
}

func TestAScriptThatWaitsIsToldOfAQuestionAndLeavesTheTurnWhenInterrupted(t *testing.T) {
	s := newStation(t, touches, touched, answersAnything)
	id := s.session()
	wait := s.start("send", "--wait", id, "touch it")
	if err := wait.in.Close(); err != nil {
		t.Fatal(err)
	}
	wait.sees("scorel: the turn waits for an answer (Bash touch touched; echo did it); scorel attach " + id + " can give it\n")
	if err := wait.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	wait.sees("scorel: the turn continues; scorel attach " + id + " shows it")
	if code := wait.ends(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	one := s.start("attach", id)
	one.sees("? Bash touch touched; echo did it\n")
	one.types("1")
	one.sees("It is touched.")
}

func TestAPipeThatStaysOpenIsToldOf(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	send := s.start("send", id, "and this")
	send.sees("scorel: reading stdin until it ends")
	if _, err := send.in.Write([]byte("and that")); err != nil {
		t.Fatal(err)
	}
	if send.in.Close() != nil || send.ends() != 0 {
		t.Errorf("the end: %s", send.printed())
	}
	if log := s.read(".scorel/sessions/" + id + ".jsonl"); !strings.Contains(log, `and this\n\nand that`) {
		t.Errorf("the message is not whole:\n%s", log)
	}
}

func TestATerminalThatIsKilledComesBackInMidAnswer(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"tell"},"do":[{"text":"The beginning of a story"},{"hang":true}]}`, answersAnything)
	id := s.session()
	one := s.start("attach", id) // which starts the host
	tail := s.start("tail", "--json", id)
	tail.sees(`{"type":"live"`)
	one.types("tell me")
	tail.sees(`"type":"text_delta"`)
	if err := one.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	one.ends()
	again := s.start("attach", id)
	again.sees("user: tell me\n")
	again.sees("assistant, so far: The beginning of a story\n")
	if again.in.Close() != nil || again.ends() != 0 || !strings.Contains(again.printed(), "the turn continues") {
		t.Errorf("detached: %s", again.printed())
	}
	if out := s.ok("cancel", id); !strings.HasPrefix(out, "Cancelled trn_") {
		t.Errorf("cancel printed %q", out)
	}
	tail.sees(`"terminal":"cancelled"`)
	if out := s.ok("cancel", id); out != "Nothing runs in "+id+".\n" {
		t.Errorf("a second cancel printed %q", out)
	}
}

func TestCtrlCCancelsTheTurnAndTwiceDetaches(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"tell"},"do":[{"text":"The beginning"},{"hang":true}]}`, answersAnything)
	id := s.session()
	a := s.start("attach", id)
	a.sees("An answer.")
	a.types("tell me")
	a.sees("user: tell me")
	s.until("the turn runs", func() bool { return strings.Contains(s.ok("tail", "--json", "--follow=false", id), `"running":true`) })
	if err := a.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	a.sees("cancelling; Ctrl-C again detaches")
	a.sees("── ended: cancelled")
	if err := a.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if a.ends() != 0 || !strings.Contains(a.printed(), "detached. Resume with: scorel attach") {
		t.Errorf("the end: %s", a.printed())
	}
}

func TestWhatIsTypedInATurnWaitsAndCanBeDropped(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"tell"},"do":[{"text":"The beginning"},{"hang":true}]}`, answersAnything)
	id := s.session()
	a := s.start("attach", id)
	a.sees("An answer.")
	a.types("tell me")
	a.sees("user: tell me")
	s.until("the turn runs", func() bool { return strings.Contains(s.ok("tail", "--json", "--follow=false", id), `"running":true`) })
	a.types("the first")
	a.sees("waiting: the first")
	a.types("the second")
	a.sees("2 waiting")
	a.types("/queue")
	a.sees("  1  follow_up  the first\n  2  follow_up  the second\n")
	a.types("/queue drop 1")
	a.sees("dropped")
	a.types("/queue drop 7")
	a.sees("no message 7 is queued")
	a.types("/rewind 1")
	a.sees("cancel it first (/cancel)")
	a.types("/cancel")
	a.sees("paused; /queue resume continues")
	a.sees("── ended: cancelled")
	a.types("/queue resume")
	a.sees("user: the second\n")
	a.sees("assistant: An answer.\n── done")
}

func TestCommandsOfAttachSayWhatTheyDo(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	a := s.start("attach", id)
	a.sees("An answer.")
	a.types("//slash")
	a.sees("user: /slash\n")
	a.sees("── done")
	a.types(`\# a heading`)
	a.sees("user: # a heading\n")
	a.sees("── done")
	a.types("#1 is open")
	a.sees("user: #1 is open\n")
	a.sees("── done")
	a.types("/memory")
	a.sees("nothing is sent to the model")
	a.types("# run make generate first")
	a.sees("── added to this project's notes; /memory shows them")
	a.types("/memory and lint")
	a.sees("── added to this project's notes; /memory shows them")
	a.types("## short answers")
	a.sees("── added to your notes; /memory shows them")
	a.types("# token: a1b2c3d4e5")
	a.sees("a password or a key")
	a.types("# ")
	a.sees("add the text to remember")
	a.types("/memory")
	a.seesAll("user  16 bytes  ", "project  37 bytes  ", "tokens of them are sent to the model")
	a.types("/nonsense")
	a.sees("there is no command /nonsense; /help lists them")
	a.types("/help")
	a.sees("/steer TEXT")
	a.types("/tree")
	a.sees("* evt_")
	a.types("/name The name")
	a.sees("The name")
	a.types("/mode plan")
	a.sees("the mode is plan")
	a.types("/mode nonsense")
	a.sees("nonsense")
	a.types("/model script:/nowhere")
	a.sees("open /nowhere: no such file or directory")
	a.types("/rewind")
	a.sees("  4  begin\n  3  /slash\n  2  # a heading\n  1  #1 is open\n")
	a.types("/rewind 9")
	a.sees("there is no message 9")
	a.types("/rewind 1")
	a.seesAll("── went back to evt_", "it was: #1 is open")
	a.types("/branch evt_0000000000000000")
	a.sees("scorel: ")
	a.types("/cancel")
	a.sees("nothing runs")
	a.types("/skip")
	a.sees("none is open")
	for _, c := range []string{"/steer", "/queue drop", "/queue nonsense", "/rewind x", "/branch", "/model", "/mode", "/name"} {
		a.types(c)
		a.sees("scorel: ")
	}
	a.types("/compact")
	a.sees("compacting")
	a.types("/quit")
	if a.ends() != 0 {
		t.Errorf("the end: %s", a.printed())
	}
}

func TestAStopInATurnLosesNothingAndTheTerminalComesBack(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"wait for it"},"do":[{"text":"I wait."},{"call":"Bash","id":"c1","input":{"command":"touch begun; while [ ! -e go ]; do sleep 0.02; done; echo over"}}]}`,
		`{"again":true,"if":{"result":"over"},"do":[{"text":"This is said in a turn that was ended."}]}`, answersAnything)
	s.file(".scorel/config.toml", "[model]\nname = 'script:"+s.home+"/script.jsonl'\n[permissions]\nallow = ['Bash']\n")
	id := s.session()
	s.ok("host", "serve", "--detach")
	before := s.info()
	a := s.start("attach", id)
	a.sees("An answer.")
	a.types("wait for it")
	s.until("the command runs", func() bool { return s.exists("project/begun") })
	a.types("what follows")
	a.sees("waiting: what follows")
	stop := s.start("host", "stop")
	a.sees("the host is stopping")
	stop.sees("scorel: waiting for 1 turn to finish a step; scorel host stop --now does not wait\n")
	s.file("project/go", "")
	stop.sees("Stopped the host with pid")
	stop.sees(id + " was at work; scorel attach ")
	if stop.ends() != 0 {
		t.Errorf("the exit code of stop: %d", stop.ends())
	}
	a.sees("the connection is gone")
	a.types("typed while nobody was there")
	if out, _, code := s.run("host", "status"); code != 1 || out != "No host runs.\n" {
		t.Errorf("status: %d %s", code, out)
	}
	s.ok("host", "serve", "--detach")
	if s.info().PID == before.PID {
		t.Error("the host is the one before")
	}
	a.sees("connected again")
	a.seesAll("user: what follows\n", "user: typed while nobody was there\n") // the queue went on by itself
	s.until("all is quiet", func() bool { return strings.Contains(s.ok("tail", "--json", "--follow=false", id), `"running":false`) })
	a.types("/quit")
	a.ends()
	if n := strings.Count(a.printed(), "user: typed while nobody was there\n"); n != 1 {
		t.Errorf("a message was shown %d times:\n%s", n, a.printed())
	}
	s.ok("host", "stop")
	if out := s.ok("sessions", "verify", id); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
}

func TestAHostThatWasKilledIsReplacedAndItsChildrenAreEnded(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"hold on"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo $$ > pid; while :; do sleep 0.05; done"}}]}`, answersAnything)
	s.file(".scorel/config.toml", "[model]\nname = 'script:"+s.home+"/script.jsonl'\n[permissions]\nallow = ['Bash']\n[sandbox]\nmode = 'off'\n")
	id := s.session()
	s.ok("host", "serve", "--detach")
	a := s.start("attach", id)
	a.sees("An answer.")
	a.types("hold on")
	s.until("the command runs", func() bool { return s.exists("project/pid") && s.read("project/pid") != "" })
	pid := strings.TrimSpace(s.read("project/pid"))
	if err := syscall.Kill(s.info().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a.sees("the connection is gone")
	s.until("the lock is free", func() bool { _, _, code := s.run("host", "status"); return code == 1 })
	if !s.exists(".scorel/host.json") || !s.exists(".scorel/host.sock") {
		t.Error("a host that is killed leaves its files; the test shows nothing")
	}
	s.ok("host", "serve", "--detach")
	s.until("the command of the host before has ended", func() bool { return ended(pid) })
	a.sees("connected again")
	a.types("are you there")
	a.sees("user: are you there\n")
	a.sees("An answer.")
}

func TestReplaceTakesOverAndClientsGoAlong(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	before := s.info()
	a := s.start("attach", id)
	a.sees("An answer.")
	s.fails(1, "runs already", "host", "serve")
	s.fails(1, "runs already", "host", "serve", "--detach")
	if now := s.info(); now.PID != before.PID {
		t.Fatalf("the host was replaced: %+v", now)
	}
	if out := s.ok("host", "serve", "--detach", "--replace", "--listen", "127.0.0.1:0"); !strings.Contains(out, "ws://127.0.0.1:") || strings.Contains(out, ":0\n") {
		t.Errorf("it printed %q", out)
	}
	if s.info().PID == before.PID {
		t.Error("the host was not replaced")
	}
	a.sees("connected again")
	a.types("still there?")
	a.sees("user: still there?\n")
	a.sees("An answer.")
	s.fails(1, "stop it first", "host", "reset", "--yes")
}

func TestPrintGoesThroughTheHostThatHasTheSession(t *testing.T) {
	s := newStation(t, touches, touched, `{"again":true,"if":{"user":"tell"},"do":[{"text":"The beginning"},{"hang":true}]}`, answersAnything)
	id := s.session()
	a := s.start("attach", id) // the host has it now
	a.sees("An answer.")
	if out := s.ok("-p", "--session", id, "hello"); out != "An answer.\n" {
		t.Errorf("printed: %q", out)
	}
	a.sees("user: hello\n")
	// What is asked of this turn counts for it, and for no other.
	if out := s.ok("-p", "--continue", "--allowed-tools", "Bash(touch:*),Bash(echo:*)", "touch it"); out != "It is touched.\n" || !s.exists("project/touched") {
		t.Errorf("printed: %q", out)
	}
	a.sees("It is touched.")
	other := s.start("-p", "--session", id, "touch it")
	_ = other.in.Close()
	a.sees("user: touch it\n")
	a.sees("? Bash touch touched") // somebody is there who can be asked
	a.types("0 not now")
	if code := other.ends(); code != 0 {
		t.Errorf("without the rule: exit code %d: %s", code, other.printed())
	}
	a.sees("not now")
	s.fails(2, "--append-system-prompt", "-p", "--session", id, "--append-system-prompt", "x", "hello")
	if out, _, code := s.run("-p", "--session", id, "--input-format", "stream-json", "--output-format", "stream-json", "hello"); code != exit.Usage || !strings.Contains(out, "--input-format stream-json does not work") {
		t.Errorf("requests on stdin: exit code %d, %s", code, out)
	}
	a.types("tell me")
	s.until("the turn runs", func() bool { return strings.Contains(s.ok("host", "status"), "at work") })
	s.fails(1, "A turn is running", "-p", "--session", id, "hello")
}

func TestSendPrintsWhereTheMessageIs(t *testing.T) {
	s := newStation(t, touches, touched, `{"again":true,"if":{"user":"tell"},"do":[{"text":"The beginning"},{"hang":true}]}`,
		`{"again":true,"if":{"user":"break"},"do":[{"error":{"status":400,"message":"no"}}]}`, answersAnything)
	id := s.session()
	if out := s.ok("send", id, "hello"); !strings.HasPrefix(out, "evt_") || !strings.Contains(out, " turn trn_") {
		t.Errorf("printed: %q", out)
	}
	if out := s.ok("send", id, "--wait", "hello"); out != "An answer.\n" {
		t.Errorf("printed: %q", out)
	}
	if _, _, code := s.run("send", id, "--wait", "break"); code != exit.Failed {
		t.Errorf("a turn that failed: exit code %d", code)
	}
	s.ok("send", id, "tell me")
	s.until("the turn runs", func() bool { return strings.Contains(s.ok("host", "status"), "at work") })
	s.fails(1, "A turn is running", "send", id, "--reject", "hello")
	if out := s.ok("send", id, "later"); !strings.HasPrefix(out, "itm_") || !strings.Contains(out, "waits in "+id) {
		t.Errorf("printed: %q", out)
	}
	wait := s.start("send", id, "--wait", "--follow-up", "and then")
	_ = wait.in.Close()
	s.until("it waits", func() bool { return strings.Contains(s.ok("host", "status"), "2 waiting messages") })
	s.ok("cancel", id)
	s.until("nothing runs", func() bool { return !strings.Contains(s.ok("host", "status"), "at work") })
	a := s.start("attach", id)
	a.sees("paused")
	a.types("/queue resume")
	if wait.sees("An answer."); wait.ends() != 0 {
		t.Errorf("exit code %d: %s", wait.ends(), wait.printed())
	}
	s.fails(2, "exclude each other", "send", id, "--steer", "--reject", "x")
	s.fails(2, "nothing to send", "send", id)
	s.fails(2, "there is no session", "send", "nonsense", "x")
}

func TestManyThatNeedAHostAtOnceStartOne(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	var all []*seat
	for range 6 {
		all = append(all, s.start("attach", id))
	}
	for _, a := range all {
		a.sees("assistant: An answer.")
	}
	if n := strings.Count(s.read(".scorel/host.log"), "listens on"); n != 1 {
		t.Errorf("%d hosts were started:\n%s", n, s.read(".scorel/host.log"))
	}
	if st := s.ok("host", "status"); strings.Count(st, "scorel attach") != 6 || !strings.Contains(st, id+"  idle, 6 clients") {
		t.Errorf("status:\n%s", st)
	}
}

func TestSessionsOfARunningHostAreNamedAndDeletedThroughIt(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	a := s.start("attach", id)
	a.sees("An answer.")
	s.ok("sessions", "rename", id, "A name")
	a.sees("A name")
	s.fails(1, "is open", "sessions", "delete", "--yes", id)
	a.types("/quit")
	a.ends()
	s.ok("sessions", "delete", "--yes", id)
	if out := s.ok("sessions", "list", "--json"); strings.Contains(out, id) {
		t.Errorf("listed: %s", out)
	}
	s.fails(2, "no such session", "sessions", "show", id)
}

func TestTheLogOfTheHostCanBeFollowed(t *testing.T) {
	s := newStation(t, answersAnything)
	log := s.start("host", "logs", "-f")
	s.ok("host", "serve", "--detach")
	log.sees("listens on unix:")
	s.ok("host", "stop")
	log.sees("stopping: a client asked for it")
	log.sees("ended")
	if err := log.cmd.Process.Signal(syscall.SIGINT); err != nil || log.ends() != 0 {
		t.Errorf("the end: %v %s", err, log.printed())
	}
}
