package extension

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/extension/js"
	"scorel/internal/extension/prelude"
	"scorel/internal/extension/rpc"
)

// fakeMode makes the test binary a process with extensions: what each does stands in
// its file as a [script].
const fakeMode = "EXTENSION_TEST_PROCESS"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == rpc.ChildName {
		os.Exit(js.Main(os.Args[2:], "test", prelude.Scripts()))
	}
	if os.Getenv(fakeMode) != "" {
		runFake()
		return
	}
	_ = os.Unsetenv("SCOREL_TEST_CHILD") // this program is the child, as a fake too
	goleak.VerifyTestMain(m)
}

// script is an extension of the fake. On says what it does when it is asked for "load",
// "hook NAME", "tool NAME", "command NAME" or "unload", or told of "event NAME", which
// has no answer:
//
//	answer JSON       answers
//	fail TEXT         answers with an error
//	hang              never answers
//	spin              runs without a pause, as its page says
//	exit              ends the process
//	grow              takes 240 MiB and keeps them
//	call METHOD JSON  asks the host and answers with what that gives
//	note METHOD JSON  notifies the host and answers null
//	seen              answers with what it was told of: entries, state and events
//	counts            answers with how many entries it knew at each event since it was asked last
//	params            answers with what it was asked
type script struct {
	Registration rpc.Registration  `json:"registration"`
	On           map[string]string `json:"on"`
}

type fake struct {
	mu      sync.Mutex
	out     *bufio.Writer
	calls   map[string]chan frame
	next    int
	scripts map[string]*script
	slot    map[string]int
	page    *rpc.Page
	entries []json.RawMessage
	state   json.RawMessage
	events  []json.RawMessage
	counts  []json.RawMessage // of each event: whose, its type, and how many entries were known
}

func (f *fake) write(fr frame) {
	if fr.Method == "" && fr.ID == nil {
		return // nobody asked
	}
	fr.JSONRPC = "2.0"
	line, err := json.Marshal(fr)
	if err != nil {
		panic(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out.Write(append(line, '\n'))
	f.out.Flush()
}

func runFake() {
	f := &fake{out: bufio.NewWriter(os.Stdout), calls: map[string]chan frame{}, scripts: map[string]*script{}, slot: map[string]int{}}
	if a := os.Args; a[len(a)-1] == "3" {
		p, err := rpc.MapPage(os.NewFile(3, "page"))
		if err != nil {
			panic(err)
		}
		f.page = p
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := readLine(in, rpc.MaxMessage)
		if err != nil {
			return
		}
		var fr frame
		if err := json.Unmarshal(line, &fr); err != nil {
			panic(err)
		}
		switch {
		case fr.Method == "" && fr.ID != nil:
			f.mu.Lock()
			c := f.calls[string(fr.ID)]
			f.mu.Unlock()
			c <- fr
		case fr.ID == nil:
			f.noted(fr)
		case fr.Method == rpc.MethodLoad: // in order
			f.answer(fr)
		default:
			go f.answer(fr)
		}
	}
}

func (f *fake) noted(fr frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch fr.Method {
	case rpc.NoteEntries:
		var e rpc.Entries
		if err := json.Unmarshal(fr.Params, &e); err != nil {
			panic(err)
		}
		f.entries = append(f.entries[:e.Keep:e.Keep], e.Add...)
	case rpc.NoteState:
		f.state = fr.Params
	case rpc.NoteEvent, rpc.NoteBus:
		f.events = append(f.events, fr.Params)
		var p struct{ Ext, Type string }
		_ = json.Unmarshal(fr.Params, &p)
		f.counts = append(f.counts, fmt.Appendf(nil, "[%q,%q,%d]", p.Ext, p.Type, len(f.entries)))
		if s := f.scripts[p.Ext]; s != nil && s.On["event "+p.Type] != "" {
			go f.act(frame{}, s.On["event "+p.Type], f.slot[p.Ext])
		}
	}
}

func (f *fake) answer(fr frame) {
	var p struct{ Ext, Path, Hook, Tool, Command string }
	_ = json.Unmarshal(fr.Params, &p)
	reply := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		f.write(frame{ID: fr.ID, Result: data})
	}
	what := fr.Method
	switch fr.Method {
	case rpc.MethodInitialize:
		reply(rpc.Initialized{Protocol: rpc.Version, Entries: true})
		return
	case rpc.MethodShutdown:
		reply(nil)
		os.Exit(0)
	case rpc.MethodLoad:
		path := p.Path
		if filepath.Base(path) == "scorel.extension.json" {
			path = filepath.Join(filepath.Dir(path), "script.json")
		}
		data, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		s := &script{}
		if err := json.Unmarshal(data, s); err != nil {
			panic(err)
		}
		f.mu.Lock()
		f.slot[p.Ext] = len(f.slot)
		f.scripts[p.Ext] = s
		f.mu.Unlock()
		if s.On["load"] == "" {
			reply(s.Registration)
			return
		}
		what = "load"
	case rpc.MethodUnload:
		what = "unload"
	case rpc.MethodHook:
		what = "hook " + p.Hook
	case rpc.MethodTool:
		what = "tool " + p.Tool
	case rpc.MethodCommand:
		what = "command " + p.Command
	case rpc.MethodComplete:
		what = "complete " + p.Command
	}
	f.mu.Lock()
	s, slot := f.scripts[p.Ext], f.slot[p.Ext]
	f.mu.Unlock()
	f.act(fr, s.On[what], slot)
}

// act does what a script says, and answers the request fr; one without an id is none.
func (f *fake) act(fr frame, what string, slot int) {
	reply := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		f.write(frame{ID: fr.ID, Result: data})
	}
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "", "answer":
		if rest == "" {
			rest = "null"
		}
		f.write(frame{ID: fr.ID, Result: json.RawMessage(rest)})
	case "fail":
		f.write(frame{ID: fr.ID, Error: &RemoteError{Code: rpc.ErrFailed, Message: rest}})
	case "hang":
	case "spin":
		f.page.Busy(slot, true)
	case "exit":
		os.Exit(3)
	case "grow":
		f.page.Busy(slot, true)
		var all [][]byte
		for {
			b := make([]byte, 16<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			if all = append(all, b); len(all) == 15 { // more would end it by its address space
				select {}
			}
		}
	case "seen":
		f.mu.Lock()
		seen := map[string]any{"entries": f.entries, "state": f.state, "events": f.events}
		f.mu.Unlock()
		reply(seen)
	case "counts":
		f.mu.Lock()
		counts := f.counts
		f.counts = nil
		f.mu.Unlock()
		text, _ := json.Marshal(counts)
		reply(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}})
	case "params":
		f.write(frame{ID: fr.ID, Result: fr.Params})
	case "note":
		method, params, _ := strings.Cut(rest, " ")
		f.write(frame{Method: method, Params: json.RawMessage(params)})
		reply(nil)
	case "call":
		method, params, _ := strings.Cut(rest, " ")
		f.mu.Lock()
		f.next++
		id := fmt.Sprintf(`"c%d"`, f.next)
		c := make(chan frame, 1)
		f.calls[id] = c
		f.mu.Unlock()
		f.write(frame{ID: json.RawMessage(id), Method: method, Params: json.RawMessage(params)})
		got := <-c
		if got.Error != nil {
			f.write(frame{ID: fr.ID, Error: got.Error})
			return
		}
		f.write(frame{ID: fr.ID, Result: got.Result})
	default:
		panic("the script says " + verb)
	}
}
