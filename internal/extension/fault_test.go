package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"scorel/internal/platform/fault"
)

// closer is a stream that takes everything.
type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

func TestAPanicInTheConnectionToAnExtensionEndsThatAndIsTold(t *testing.T) {
	for what, line := range map[string]string{
		"with a notification": `{"jsonrpc":"2.0","method":"note"}`,
		"with a request":      `{"jsonrpc":"2.0","id":1,"method":"call"}`,
	} {
		t.Run(what, func(t *testing.T) {
			told, broken := make(chan *fault.Panic, 1), make(chan error, 1)
			out, in := io.Pipe()
			p := newPeer(&peer{
				note:   func(string, json.RawMessage) { panic("a fault of ours") },
				serve:  func(context.Context, string, json.RawMessage) (any, error) { panic("a fault of ours") },
				report: func(string, []byte) {}, clean: strings.Clone,
				broken: func(err error) { broken <- err; _ = in.Close() },
				fault:  func(p *fault.Panic) { told <- p }})
			p.start(&closer{}, out)
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Fatal(err)
			}
			if err := <-broken; !strings.Contains(err.Error(), "a fault of ours") {
				t.Errorf("it is broken: %v", err)
			}
			if f := <-told; f.Value != "a fault of ours" {
				t.Errorf("told is %v", f)
			}
			p.wait()
			p.waitServed()
			if len(p.served) != 0 {
				t.Errorf("%d are served", len(p.served))
			}
		})
	}
}

func TestAPanicOfWhatASetDoesBesideGivesTheSessionUp(t *testing.T) {
	told := make(chan *fault.Panic, 1)
	s := &Set{cfg: Config{Fault: func(p *fault.Panic) { told <- p }}}
	s.spawn(func() { panic("half told") })
	if p := <-told; p.Value != "half told" {
		t.Errorf("told is %v", p)
	}
	s.wg.Wait()
}
