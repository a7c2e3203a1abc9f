package httpx

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestEventsAreReadInAnyPieces(t *testing.T) {
	for in, want := range map[string]string{
		"data: a\n\ndata: b\n\n":                         "=a;=b;",
		"event: x\ndata: a\n\ndata: b\n\n":               "x=a;=b;",
		"data: a\r\nevent: x\r\n\r\n":                    "x=a;",
		"data:a\ndata:  b\ndata\n\n":                     "=a\n b\n;",
		": keep\n\n: keep\ndata: a\nid: 7\nretry: 3\n\n": "=a;",
		"event: x\n\ndata: a\n\n":                        "=a;",
		"\xef\xbb\xbfdata: a\n\n\n\n":                    "=a;",
		"data: a\n\ndata: b":                             "=a;",
		"data:\n\n":                                      "=;",
		"":                                               "",
	} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
			var got strings.Builder
			for e, err := range Events(wrap(strings.NewReader(in))) {
				if err != nil {
					t.Fatalf("%q: %v", in, err)
				}
				got.WriteString(string(e.Name) + "=" + string(e.Data) + ";")
			}
			if got.String() != want {
				t.Errorf("%q gives %q, want %q", in, got.String(), want)
			}
		}
	}
}

func TestAStreamThatBreaksOrIsTooLongIsAnError(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		in   io.Reader
		want error
	}{
		"broken":   {io.MultiReader(strings.NewReader("data: a\n\n"), iotest.ErrReader(broken)), broken},
		"too long": {newGuard(io.NopCloser(io.MultiReader(strings.NewReader("data: a\n\n"), endless{}))), errLine},
	} {
		events, err := 0, error(nil)
		for _, bad := range Events(tt.in) {
			if bad == nil {
				events++
			}
			err = bad
		}
		if events != 1 || !errors.Is(err, tt.want) {
			t.Errorf("%s: %d events, %v", name, events, err)
		}
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
