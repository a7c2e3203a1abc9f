package admin_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func TestTheUsageOfASessionIsToldByModelAndPurpose(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, hosttest.Tried, `{"if":{"user":"^delegate"},"do":[{"call":"Task","id":"t1","input":{"description":"look","prompt":"look at it"}}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	first := e.Answers()[0]
	e.Say("delegate it")
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &first, Summarise: "yes"})
	rep := hosttest.Call[*protocol.UsageReport](t, e.C, e.ID, &protocol.GetUsage{})
	kinds := map[protocol.UsageKind]protocol.UsageRow{}
	sum := protocol.Usage{}
	for _, r := range rep.Rows {
		kinds[r.Kind] = r
		sum.Add(r.Usage)
	}
	late := w.Open(w.Connect(false), e.ID)
	if sum != rep.Total || rep.Total != late.S.Live.Usage || sum.OutputTokens == 0 {
		t.Errorf("rows %+v, total %+v, live %+v", sum, rep.Total, late.S.Live.Usage)
	}
	if r := kinds[protocol.UsageConversation]; r.Calls != 3 || !strings.HasSuffix(r.Model, "mock-1") {
		t.Errorf("the conversation: %+v", r)
	}
	if r := kinds[protocol.UsageSubagent]; r.Calls != 1 || r.Agent != "general" || r.Model != kinds[protocol.UsageConversation].Model {
		t.Errorf("the sub-agent: %+v", r)
	}
	if r := kinds[protocol.UsageSummary]; r.Calls != 1 || len(rep.Rows) != 3 {
		t.Errorf("the summary: %+v of %+v", r, rep.Rows)
	}
}

func TestTheUsageSaysHowMuchOfItsLimitsTheTurnThatRunsHasUsed(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	n := 0
	w := hosttest.New(t, hosttest.Setting{Tables: "price = { input = 1.0, output = 1.0 }\n[limits]\nmaxBudgetUSD = 5", Request: func([]byte) {
		if n++; n == 2 {
			close(asked)
			<-goOn
		}
	}}, `{"do":[{"call":"Read","input":{"path":"a.txt"}}],"usage":{"inputTokens":1000000,"outputTokens":0}}`, `{"do":[{"text":"ok"}]}`)
	w.File("a.txt", "hello\n")
	e := w.Begin(false)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("look")}, WhenBusy: "reject", Options: &protocol.TurnOptions{MaxTokens: 3_000_000}})
	<-asked
	rep := hosttest.Call[*protocol.UsageReport](t, e.C, e.ID, &protocol.GetUsage{})
	want := []protocol.LimitUse{{Kind: protocol.LimitCost, Where: protocol.LimitOfTurn, Used: 1, Limit: 5}, {Kind: protocol.LimitTokens, Where: protocol.LimitOfTurn, Used: 1_000_000, Limit: 3_000_000}}
	if !slices.Equal(rep.Limits, want) {
		t.Errorf("limits %+v, want %+v", rep.Limits, want)
	}
	close(goOn)
	e.End()
	harness.Until(t, "a report without limits", func() bool { // the turn is left a moment after its end
		return hosttest.Call[*protocol.UsageReport](t, e.C, e.ID, &protocol.GetUsage{}).Limits == nil
	})
}

func TestTheUsageOfALogThatNamesAnyNumberOfModelsIsBounded(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	lines := strings.Split(strings.TrimSpace(string(hosttest.Exported(t, e.C, e.ID, "jsonl"))), "\n")
	answer := lines[slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"role":"assistant"`) })]
	last, err := protocol.ParseEvent([]byte(lines[len(lines)-1]))
	if err != nil {
		t.Fatal(err)
	}
	const forged = 2_000
	for i := range forged {
		ev, err := protocol.ParseEvent([]byte(answer))
		if err != nil {
			t.Fatal(err)
		}
		b := ev.Body.(*protocol.MessageBody)
		b.Message.Model, b.Message.Provider = strings.Repeat("m", 1_000)+fmt.Sprint(i), fmt.Sprint("p", i)
		ev.ParentID, ev.ID, ev.Seq = last.ID, protocol.NewEventID(rand.Reader), last.Seq+1
		ev = protocol.Event{Envelope: ev.Envelope, Body: b} // not as it was read
		line, err := ev.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		lines, last = append(lines, string(line)), ev
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	var parts []string
	for data := []byte(strings.Join(lines, "\n") + "\n"); len(data) > 0; {
		n := min(len(data), 512<<10)
		ref := hosttest.Call[*protocol.BlobRef](t, e.C, "", &protocol.PutBlob{UploadID: fmt.Sprint("u", len(data)), Data: data[:n], Last: true})
		parts, data = append(parts, ref.SHA256), data[n:]
	}
	hosttest.Call[*protocol.Imported](t, e.C, id, &protocol.ImportSession{Blobs: parts})
	rep := hosttest.Call[*protocol.UsageReport](t, e.C, id, &protocol.GetUsage{})
	sum, calls := protocol.Usage{}, 0
	for _, r := range rep.Rows {
		sum.Add(r.Usage)
		calls += r.Calls
		if len(r.Model) > 200 {
			t.Fatalf("a model of %d bytes", len(r.Model))
		}
	}
	if len(rep.Rows) > 204 || sum != rep.Total || calls <= forged {
		t.Errorf("%d rows of %d calls, which add up to %+v of %+v", len(rep.Rows), calls, sum, rep.Total)
	}
}

func TestThePartsOfTheContextAddUpToIt(t *testing.T) {
	for _, api := range hosttest.APIs() {
		w := hosttest.New(t, hosttest.Setting{API: api}, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`, `{"if":{"user":"^read"},"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}]}`, `{"again":true,"do":[{"text":"many words of an answer"}]}`)
		w.File("a.txt", strings.Repeat("a line of a file\n", 500))
		e := w.Begin(false)
		e.Note("user", "short answers please")
		empty := hosttest.Call[*protocol.ContextView](t, e.C, e.ID, &protocol.GetContext{})
		e.Say("read it")
		view := hosttest.Call[*protocol.ContextView](t, e.C, e.ID, &protocol.GetContext{})
		parts := func(v *protocol.ContextView) map[protocol.ContextPartName]protocol.ContextPart {
			sum, out := 0, map[protocol.ContextPartName]protocol.ContextPart{}
			for _, p := range v.Parts {
				sum += p.Tokens
				out[p.Name] = p
			}
			if sum != v.Tokens || v.Free+v.Tokens+v.Reserved != v.Window {
				t.Errorf("%s: the parts add up to %d of %d; %d free and %d reserved of %d", api, sum, v.Tokens, v.Free, v.Reserved, v.Window)
			}
			return out
		}
		if p := parts(empty); len(p) != 2 || p[protocol.PartTools].Count < 10 || p[protocol.PartSystem].Tokens == 0 {
			t.Errorf("%s: of an empty conversation: %+v", api, p)
		}
		p := parts(view)
		if p[protocol.PartMemory].Count != 1 || p[protocol.PartCalls].Count != 1 || p[protocol.PartUser].Count != 1 || p[protocol.PartAssistant].Count != 1 ||
			p[protocol.PartToolResults].Count != 1 || p[protocol.PartToolResults].Tokens < 10*p[protocol.PartUser].Tokens {
			t.Errorf("%s: %+v", api, view.Parts)
		}
		e.Say("and on")
		e.Compact()
		if p := parts(hosttest.Call[*protocol.ContextView](t, e.C, e.ID, &protocol.GetContext{})); p[protocol.PartSummary].Count != 1 {
			t.Errorf("%s: behind a compaction: %+v", api, p)
		}
	}
}

func TestHooksAreListedWithWhereTheyStandAndWhetherTheyRun(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Tables: "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"true\"\ntimeoutMs = 5000\n"})
	w.File(".scorel/config.toml", "[[hooks]]\nevent = \"Stop\"\ncommand = \"sh check.sh\"\n")
	w.File("check.sh", "true\n")
	e := w.Begin(false)
	list := hosttest.Call[*protocol.HookList](t, e.C, e.ID, &protocol.ListHooks{})
	if len(list.Hooks) != 2 {
		t.Fatalf("%+v", list)
	}
	if h := list.Hooks[0]; h.Event != "PreToolUse" || h.Matcher != "Bash" || h.TimeoutMS != 5000 || !h.Blocks || h.Scope != "user" || h.State != "ok" || !strings.Contains(h.Source, "config.toml:") {
		t.Errorf("the user's: %+v", h)
	}
	if h := list.Hooks[1]; h.Scope != "project" || h.State != "untrusted" || h.Problem == "" {
		t.Errorf("the project's: %+v", h)
	}
	p := hosttest.Call[*protocol.Project](t, e.C, "", &protocol.RegisterProject{WorkDir: w.Project})
	rep := hosttest.Call[*protocol.TrustReport](t, e.C, "", &protocol.GetTrust{ProjectID: p.ProjectID})
	hosttest.Call[*protocol.ProjectTrust](t, e.C, "", &protocol.TrustProject{ProjectID: p.ProjectID, Hash: rep.Hash, Trusted: true})
	if h := hosttest.Call[*protocol.HookList](t, e.C, "", &protocol.ListHooks{WorkDir: w.Project}).Hooks[1]; h.State != "ok" || h.Problem != "" {
		t.Errorf("a trusted one: %+v", h)
	}
	w.File("check.sh", "false\n")
	if h := hosttest.Call[*protocol.HookList](t, e.C, e.ID, &protocol.ListHooks{}).Hooks[1]; h.State != "changed" || !strings.Contains(h.Problem, "check.sh") {
		t.Errorf("one whose file has changed: %+v", h)
	}
}

func TestAKeyOfTheConfigurationIsSetAndCountsFromTheNextTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	name := filepath.Join(w.Home, ".scorel", "config.toml")
	real := filepath.Join(w.Home, "dotfiles.toml")
	if err := os.Rename(name, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, name); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(real)
	e := w.Begin(false)
	hosttest.Call[*protocol.Done](t, e.C, "", &protocol.SetConfig{Key: "tools.preset", Value: "none"})
	after, _ := os.ReadFile(real)
	if info, err := os.Lstat(name); err != nil || info.Mode().Type() != os.ModeSymlink || !strings.HasPrefix(string(after), strings.TrimRight(string(before), "\n")) {
		t.Errorf("%v %v: %s", info, err, after)
	}
	e.Say("hello")
	if strings.Contains(w.LastRequest(), `"Read"`) {
		t.Error("it does not count")
	}
	for _, c := range hosttest.Call[*protocol.ConfigReport](t, e.C, "", &protocol.GetConfig{WorkDir: w.Project}).Entries {
		if c.Key == "tools.preset" && (c.Value != `"none"` || !c.Settable || c.Doc == "" || c.Type == "" || c.Default != "coding") {
			t.Errorf("%+v", c)
		}
		if c.Key == "hooks" && c.Settable {
			t.Errorf("%+v", c)
		}
	}
	hosttest.Refused(t, e.C, "", &protocol.SetConfig{Key: "models.mock.headers.X-Key", Value: "secret"}, protocol.CodeInvalidRequest)
	if pe := hosttest.Refused(t, e.C, "", &protocol.SetConfig{Key: "search.apiKeyEnv", Value: "sk-verysecret"}, protocol.CodeInvalidRequest); strings.Contains(pe.Message, "verysecret") {
		t.Errorf("the error has the value: %s", pe.Message)
	}
	hosttest.Call[*protocol.Done](t, e.C, "", &protocol.SetConfig{Key: "tools.preset"})
	if last, _ := os.ReadFile(real); strings.Contains(string(last), "preset") {
		t.Errorf("taken out: %s", last)
	}
	lock, err := disk.WaitLock(disk.OS(), name+".lock")
	if err != nil {
		t.Fatalf("the lock is kept: %v", err)
	}
	_ = lock.Unlock()
}

func TestTheStateOfAProjectHasItsBranch(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	e := w.Begin(false)
	if s := hosttest.Call[*protocol.ProjectState](t, e.C, e.ID, &protocol.GetProjectState{}); s.Git || s.Branch != "" || s.Root != w.Project {
		t.Errorf("without Git: %+v", s)
	}
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(w.Project, ".git", d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.File(".git/HEAD", "ref: refs/heads/a/b\n")
	if s := hosttest.Call[*protocol.ProjectState](t, e.C, "", &protocol.GetProjectState{WorkDir: w.Project}); !s.Git || s.Branch != "a/b" {
		t.Errorf("with Git: %+v", s)
	}
}

func TestModelsAreListedWithPriceAndLevels(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Tables: "[models.dear]\ntype = \"custom\"\napi = \"anthropic-messages\"\nbaseUrl = \"http://127.0.0.1:1\"\nid = \"d\"\nreasoning = true\ncontextWindow = 9000\nprice.input = 3\nprice.output = 15\n"})
	c := w.Connect(false)
	for _, m := range hosttest.Call[*protocol.ModelList](t, c, "", &protocol.ListModels{}).Models {
		switch m.Ref {
		case "dear":
			if m.Price == nil || m.Price.Input != 3 || m.Price.Output != 15 || len(m.ThinkingLevels) == 0 {
				t.Errorf("%+v %+v", m, m.Price)
			}
		case "mock":
			if m.Price != nil || m.Thinking != (len(m.ThinkingLevels) > 0) {
				t.Errorf("%+v", m)
			}
		}
	}
}

func TestWhoAttachesLateHasTheTodoListOfThePath(t *testing.T) {
	list := func(status string) string {
		return `{"if":{"user":"^` + status + `"},"do":[{"call":"TodoWrite","id":"` + status + `","input":{"todos":[{"content":"it","status":"` + status + `"}]}}]}`
	}
	for _, api := range hosttest.APIs()[:1] {
		w := hosttest.New(t, hosttest.Setting{API: api}, list("pending"), list("in_progress"), list("completed"), `{"again":true,"do":[{"text":"ok"}]}`)
		e := w.Begin(false)
		e.Say("hello")
		none := e.S.Live.LeafID
		shows := func(when, want string) {
			t.Helper()
			late := w.Open(w.Connect(false), e.ID)
			for who, l := range map[string]*protocol.Live{"who was there": &e.S.Live, "a newcomer": &late.S.Live} {
				got := ""
				for _, todo := range l.Todos {
					got += todo.Status
				}
				if got != want {
					t.Errorf("%s: %s sees %q, want %q", when, who, got, want)
				}
			}
		}
		shows("before any list", "")
		e.Say("pending")
		first := e.S.Live.LeafID
		shows("with a list", "pending")
		e.Say("in_progress")
		shows("with another", "in_progress")
		e.Events = nil
		hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &first})
		e.Until(hosttest.OfType(protocol.TypeTodos))
		shows("behind a rewind", "pending")
		w.Restart()
		e = w.Open(w.Connect(false), e.ID)
		shows("in a later host", "pending")
		e.Events = nil
		hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.BranchTo{LeafEventID: none})
		e.Until(hosttest.OfType(protocol.TypeTodos))
		shows("behind a branch to where there was none", "")
		e.Events = nil
		hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.BranchTo{LeafEventID: first})
		e.Until(hosttest.OfType(protocol.TypeTodos))
		e.Say("completed")
		shows("when all is done", "")
	}
}

func TestBackgroundCommandsAreToldAsTheyGoOn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.Serve, `{"again":true,"do":[{"text":"it runs"}]}`)
	e := w.Begin(false)
	e.Say("start")
	update := func(fits func(protocol.TaskInfo) bool) protocol.TaskInfo {
		t.Helper()
		var found protocol.TaskInfo
		e.Until(func(ev protocol.Event) bool {
			b, ok := ev.Body.(*protocol.TaskUpdate)
			if ok && fits(b.Task) {
				found = b.Task
			}
			return found.TaskID != ""
		})
		return found
	}
	begun := update(func(i protocol.TaskInfo) bool { return i.State == protocol.TaskRunning })
	update(func(i protocol.TaskInfo) bool { return i.State == protocol.TaskRunning && i.LastLine == "up" })
	late := w.Open(w.Connect(false), e.ID)
	if tasks := late.S.Live.Tasks; len(tasks) != 1 || tasks[0].TaskID != begun.TaskID || tasks[0].LastLine != "up" {
		t.Errorf("a newcomer sees %+v", tasks)
	}
	if tasks := hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks; len(tasks) != 1 || tasks[0].LastLine != "up" {
		t.Errorf("the list: %+v", tasks)
	}
	w.File("go", "")
	end := update(func(i protocol.TaskInfo) bool { return i.State == protocol.TaskExited })
	if end.LastLine != "bye" || end.ExitCode == nil || *end.ExitCode != 3 {
		t.Errorf("the end: %+v", end)
	}
}
