package httpx

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
	"weak"
)

// TestARequestIsLetGoOfWhileItsAnswerComes: an answer may take many minutes, and a
// request many megabytes.
func TestARequestIsLetGoOfWhileItsAnswerComes(t *testing.T) {
	const size = 1 << 20
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); n != size || r.ContentLength != size || err != nil {
			t.Errorf("%d of %d bytes came, %v", n, r.ContentLength, err)
		}
		w.(http.Flusher).Flush()
		<-end
	}))
	defer server.Close()
	defer close(end)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()

	body := bytes.Repeat([]byte("x"), size)
	held := weak.Make(&body[0])
	res, err := Peer{HTTP: &http.Client{Transport: transport}}.Doer().Post(t.Context(), server.URL, nil, body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body = nil
	for deadline := time.Now().Add(2 * time.Minute); held.Value() != nil; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the request is held while its answer comes")
		}
		runtime.Gosched() // the connection closes what it has sent
	}
}

func TestARequestCanBeReadAgainUntilItIsAnswered(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://test.invalid", nil)
	if err != nil {
		t.Fatal(err)
	}
	u := send(req, []byte("body"))
	for range 2 {
		again, err := req.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(again); string(got) != "body" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	u.drop()
	if _, err := req.GetBody(); err == nil {
		t.Error("it can be read although it is gone")
	}
}
