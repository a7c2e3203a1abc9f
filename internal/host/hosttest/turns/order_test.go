package turns_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// witness knows what of each file is on stable storage.
type witness struct {
	disk.FS
	mu     sync.Mutex
	stored map[string][]byte
}

func (w *witness) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	f, err := w.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &witnessed{f, w, name}, nil
}

type witnessed struct {
	disk.File
	w    *witness
	name string
}

func (f *witnessed) Sync() error {
	data, err := os.ReadFile(f.name) // what is written later need not be synced
	if err != nil {
		return err
	}
	if err := f.File.Sync(); err != nil {
		return err
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if f.w.stored == nil {
		f.w.stored = map[string][]byte{}
	}
	f.w.stored[f.name] = data
	return nil
}

// has reports whether a text is on stable storage in some log.
func (w *witness) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, data := range w.stored {
		if strings.HasSuffix(name, ".jsonl") && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// TestNobodySeesOrDoesAnythingBeforeItIsStored holds every fsync back for as long
// as others find something to do, and looks at each event when it is told, at
// each request when it is made and at each command when it runs.
func TestNobodySeesOrDoesAnythingBeforeItIsStored(t *testing.T) {
	gate := disktest.NewGate(disk.OS())
	seen := &witness{FS: gate}
	requests := 0
	w := hosttest.New(t, hosttest.Setting{Fs: seen, Chunk: 3, Overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}, Request: func(body []byte) {
		requests++
		for _, text := range []string{"please work", "first-2", "wrote", "second-2"} {
			if bytes.Contains(body, []byte(text)) && !seen.has(text) {
				t.Errorf("request %d was made with %q, which is not stored", requests, text)
			}
		}
	}},
		`{"do":[{"text":"I work."},{"call":"Bash","id":"c1","input":{"command":"cat pipe1; echo first-$((1+1))"}},{"call":"Write","id":"c2","input":{"path":"b.txt","content":"wrote"}}]}`,
		`{"do":[{"call":"Bash","id":"c3","input":{"command":"cat pipe2; cat b.txt; echo second-$((1+1))"}}]}`,
		`{"do":[{"text":"Done."}]}`)
	e := w.Begin(false)
	var wg sync.WaitGroup
	defer wg.Wait()
	runs := func(pipe string, texts ...string) {
		name := filepath.Join(w.Project, pipe)
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			f, err := os.OpenFile(name, os.O_WRONLY, 0) // returns when the command reads
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for _, text := range texts {
				if !seen.has(text) {
					t.Errorf("the command that reads %s runs, and %s is not stored", pipe, text)
				}
			}
		})
	}
	runs("pipe1", `"id":"c1"`, `"toolCallId":"c1","decision":"allow"`)
	runs("pipe2", `"id":"c3"`, `"type":"file_snapshot"`, `"toolCallId":"c3","decision":"allow"`)

	gate.HoldSyncs()
	over, stop := context.WithCancel(context.Background())
	wg.Go(func() { // ends with the turn
		for over.Err() == nil {
			for range 200 {
				runtime.Gosched()
			}
			if gate.Waiting() > 0 {
				gate.Release(1)
			}
		}
		gate.Release(-1)
	})
	defer stop()
	e.Send("please work")
	n := 0
	for len(e.Events) == 0 || e.Events[len(e.Events)-1].Type != protocol.TypeRuntimeEnd {
		e.Next()
		for ; n < len(e.Events); n++ {
			if ev := e.Events[n]; ev.ID != "" && !seen.has(`"id":"`+string(ev.ID)+`"`) {
				t.Errorf("the %s event %s was told and is not stored", ev.Type, ev.ID)
			}
		}
	}
	if end := e.Events[len(e.Events)-1].Body.(*protocol.RuntimeEnd); end.Terminal != protocol.TerminalCompleted || requests != 3 {
		t.Errorf("end: %+v after %d requests\n%s", end, requests, e.Trace())
	}
	w.Judged()
}

// TestACallWithoutAQuestionRunsNotBeforeItIsStored: where no decision is recorded,
// only the message with the call stands before its effect.
func TestACallWithoutAQuestionRunsNotBeforeItIsStored(t *testing.T) {
	gate := disktest.NewGate(disk.OS())
	var once sync.Once // the first call of the model
	w := hosttest.New(t, hosttest.Setting{Fs: gate, Overrides: host.Overrides{Mode: "bypassPermissions"}, Request: func([]byte) { once.Do(gate.HoldSyncs) }},
		`{"do":[{"text":"I look."},{"call":"Bash","id":"c1","input":{"command":"cat pipe"}}]}`,
		`{"do":[{"text":"Done."}]}`)
	e := w.Begin(false)
	name := filepath.Join(w.Project, "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	ran := make(chan struct{})
	go func() { // ends when the command reads
		defer close(ran)
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_ = f.Close()
	}()
	e.Send("please look")
	gate.AwaitWaiting(1) // the message with the call
	select {
	case <-ran:
		t.Error("the command runs, and the message that asks for it is not stored")
	case <-time.After(300 * time.Millisecond): // long enough for a command that does not wait
	}
	gate.Release(-1)
	<-ran
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v\n%s", end, e.Trace())
	}
	for _, ev := range w.Log(e.ID) {
		if ev.Type == protocol.TypePermissionDecision {
			t.Error("a decision is recorded, which the command may have waited for instead")
		}
	}
}

func TestAKillInsideAToolIsToldToTheModelAsPossiblyDone(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api, Overrides: host.Overrides{Allow: []string{"Bash"}}},
				`{"do":[{"text":"I run it."},{"call":"Bash","id":"c1","input":{"command":"echo begun; while :; do sleep 1; done"}},{"call":"Bash","id":"c2","input":{"command":"echo other"}}]}`,
				`{"if":{"user":"what now","result":"may have taken effect"},"do":[{"text":"I check first."}]}`)
			e := w.Begin(false)
			turn := e.Send("run it")
			e.Until(hosttest.OfType(protocol.TypeToolExecutionUpdate))
			after := w.Killed()
			a := after.Open(after.Connect(false), e.ID)
			if a.S.Live.Running || len(a.S.Live.Tools) != 0 {
				t.Errorf("after the kill something runs: %+v", a.S.Live)
			}
			if end := a.Say("what now"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, a.Trace())
			}
			m := a.Messages()
			if got := m[len(m)-1].PlainText(); got != "I check first." {
				t.Errorf("answer: %q", got)
			}
			for _, m := range m {
				if m.Role == protocol.RoleToolResult && (m.ToolCallID != "c2" || m.PlainText() != protocol.CallNotBegun) {
					t.Errorf("the log was given a result that nobody saw: %+v", m)
				}
			}
			w.Judged()
			hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
			e.End()
		})
	}
}
