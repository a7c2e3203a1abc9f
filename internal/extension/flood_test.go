package extension

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"scorel/internal/extension/rpc"
)

// talk returns a connection whose other end the test writes and reads. What is served
// waits for release. At most maxParams bytes of parameters are served at once; 0: as many
// as always.
func talk(t *testing.T, maxParams int, note func(string, json.RawMessage)) (say func(string), answers func() frame, p *peer, release func()) {
	t.Helper()
	ours, theirs := io.Pipe()
	back, out := io.Pipe()
	let := make(chan struct{})
	release = sync.OnceFunc(func() { close(let) })
	p = newPeer(&peer{maxParams: maxParams, note: note, report: func(string, []byte) {}, clean: func(s string) string { return s },
		serve: func(ctx context.Context, _ string, params json.RawMessage) (any, error) {
			select {
			case <-let:
			case <-ctx.Done():
			}
			return len(params), nil
		}})
	p.start(out, ours)
	t.Cleanup(func() {
		p.close(io.EOF)
		_ = theirs.Close()
		_ = back.Close()
		p.wait()
		p.waitServed()
	})
	r := bufio.NewReaderSize(back, 1<<20)
	say = func(line string) {
		t.Helper()
		if _, err := io.WriteString(theirs, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	answers = func() (f frame) {
		t.Helper()
		line, err := r.ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &f) != nil {
			t.Fatalf("%.200s, %v", line, err)
		}
		return f
	}
	return say, answers, p, release
}

func TestRequestsOfAProgramTakeABoundedMemoryWhateverItSends(t *testing.T) {
	say, answer, p, release := talk(t, 8<<20, nil)
	refused := func(what, why string) {
		t.Helper()
		if f := answer(); f.Error == nil || !strings.Contains(f.Error.Message, why) || len(f.ID) > maxCallID {
			t.Errorf("%s: %+v", what, f)
		}
	}
	request := func(id, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"x","params":` + params + `}`
	}
	say(request("1", `{}`))
	say(request("1", `{}`))
	refused("an id twice", "is in use")
	say(request(`"`+strings.Repeat("x", 1<<20)+`"`, `{}`))
	refused("a long id", "the id of a request has more than 256 bytes")
	say(request("2", strings.Repeat("[", maxNesting)+strings.Repeat("]", maxNesting)))
	refused("a deep one", "nested deeper than 500 levels")
	say(request("3", `["`+strings.Repeat(`\"[{`, 2000)+`"]`)) // texts have no levels
	large := `"` + strings.Repeat("x", 5<<20) + `"`
	say(request("4", large))
	say(request("5", large))
	refused("much at once", "more than 8 MiB of parameters")
	release()
	for range 3 {
		if f := answer(); f.Error != nil {
			t.Errorf("%+v", f)
		}
	}
	p.requests.Wait()
	say(request("6", large))
	if f := answer(); f.Error != nil || string(f.Result) != fmt.Sprint(len(large)) {
		t.Errorf("what is over still counts: %+v", f)
	}
	if p.params != 0 || len(p.served) != 0 {
		t.Errorf("%d bytes and %d requests stay", p.params, len(p.served))
	}
}

func TestAnswerThatIsNestedTooDeepFailsItsCallAlone(t *testing.T) {
	say, answer, p, _ := talk(t, 0, nil)
	a, err := p.ask(t.Context(), rpc.MethodTool, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.ask(t.Context(), rpc.MethodTool, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer()
	answer()
	say(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000) + `}`)
	say(`{"jsonrpc":"2.0","id":77,"result":"of nothing"}`)
	say(`{"jsonrpc":"2.0","id":2,"result":"fine"}`)
	say(`{"jsonrpc":"2.0","id":2,"result":"twice"}`)
	if _, err := a.wait(t.Context()); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("%v", err)
	}
	if got, err := b.wait(t.Context()); err != nil || string(got) != `"fine"` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestNotificationsAreTakenInTheirOrderHoweverManyAndNothingIsKept(t *testing.T) {
	const n = 100_000
	next := 0
	done := make(chan struct{})
	say, _, p, _ := talk(t, 0, func(method string, params json.RawMessage) {
		if method != "log" || string(params) != fmt.Sprint(next) {
			t.Errorf("%s %s, want %d", method, params, next)
		}
		if next++; next == n {
			close(done)
		}
	})
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","method":"log","params":%d}`+"\n", i)
		if lines.Len() > 1<<16 || i == n-1 {
			say(strings.TrimSuffix(lines.String(), "\n"))
			lines.Reset()
		}
	}
	<-done
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue)+len(p.calls)+len(p.served) != 0 || p.err != nil {
		t.Errorf("%d, %d, %d, %v", len(p.queue), len(p.calls), len(p.served), p.err)
	}
}
