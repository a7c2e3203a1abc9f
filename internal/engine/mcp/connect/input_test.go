package connect

import (
	"os"
	"strings"
	"testing"
)

// torn takes half of the first message, and then all that comes.
type torn struct{ got strings.Builder }

func (w *torn) Write(p []byte) (int, error) {
	if w.got.Len() == 0 {
		n, _ := w.got.Write(p[:len(p)/2])
		return n, os.ErrDeadlineExceeded
	}
	return w.got.Write(p)
}

func (*torn) Close() error { return nil }

func TestNothingIsWrittenAfterHalfAMessage(t *testing.T) {
	to := &torn{}
	in := &input{WriteCloser: to, leave: func() {}}
	if _, err := in.Write([]byte("{\"first\":1}\n")); err == nil {
		t.Fatal("half a message is no error")
	}
	if _, err := in.Write([]byte("{\"second\":2}\n")); err == nil || strings.Contains(to.got.String(), "second") {
		t.Errorf("after half a message: %v, and the server gets %q", err, to.got.String())
	}
}
