package engine_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/js/enginetest"
	"scorel/internal/extension/js/node"
)

// unread is a network whose answers have a body that nobody may read. It counts those that are open.
type unread struct{ open atomic.Int32 }

func (u *unread) RoundTrip(r *http.Request) (*http.Response, error) {
	u.open.Add(1)
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: r, Body: &unreadBody{strings.NewReader("some text"), u}}, nil
}

type unreadBody struct {
	io.Reader
	of *unread
}

func (b *unreadBody) Close() error {
	if b.of != nil {
		b.of.open.Add(-1)
	}
	b.of = nil
	return nil
}

func TestAnAnswerThatNobodyReadsIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unread{}
		e, err := engine.New(engine.Config{Cwd: t.TempDir(), Builtin: node.Builtin, HTTP: &http.Client{Transport: u}, Failed: func(what string, err *engine.Error) { t.Error(what, err.Message) }})
		if err != nil {
			t.Fatal(err)
		}
		r := &enginetest.Run{Engine: e}
		r.Must(t, `globalThis.kept = await fetch("http://example.com/"); await fetch("http://example.com/"); await (await fetch("http://example.com/")).text();`)
		synctest.Wait()
		if n := u.open.Load(); n != 2 {
			t.Errorf("%d answers are open at once, not 2", n)
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if n := u.open.Load(); n != 0 {
			t.Errorf("%d answers are still open after 3 minutes in which nobody read them", n)
		}
		if _, err := r.Do(t, `await kept.text();`); err == nil || !strings.Contains(err.Message, "nobody has read it for 2 minutes") {
			t.Errorf("an answer that is read too late: %v", err)
		}
		e.Close()
		<-e.Done()
	})
}
