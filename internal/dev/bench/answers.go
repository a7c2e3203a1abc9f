package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model/script"
)

// answer is a response that was made ahead, cut where the server flushed it, so
// that playing it costs next to nothing.
type answer struct {
	header http.Header
	status int
	pieces [][]byte
}

// render lets the wire server answer each line of a script once. The lines may
// neither wait nor fail nor ask what the request says.
func render(s *script.Script) ([]answer, error) {
	for _, l := range s.Lines {
		if l.If.User != nil || l.If.Result != nil {
			return nil, fmt.Errorf("%s:%d: an answer that was made ahead cannot look at the request", s.Name, l.Number)
		}
		for _, step := range l.Steps {
			if step.Op != script.OpText && step.Op != script.OpThinking && step.Op != script.OpCall {
				return nil, fmt.Errorf("%s:%d: an answer that was made ahead cannot %s", s.Name, l.Number, step.Op)
			}
		}
	}
	server := modeltest.Anthropic(modeltest.Config{Script: s})
	var out []answer
	for range s.Lines {
		const body = `{"model":"mock","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"go"}]}`
		r, err := http.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		rec := recorder{answer: answer{header: http.Header{}, status: http.StatusOK}}
		server.ServeHTTP(&rec, r)
		rec.Flush()
		if rec.answer.status != http.StatusOK {
			return nil, fmt.Errorf("%s: the server answers %d: %s", s.Name, rec.answer.status, bytes.Join(rec.answer.pieces, nil))
		}
		out = append(out, rec.answer)
	}
	return out, nil
}

// play writes the answer, each piece in a write of its own.
func (a answer) play(w http.ResponseWriter) error {
	f, ok := w.(http.Flusher)
	if !ok {
		return errors.New("the connection cannot be flushed")
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	for _, p := range a.pieces {
		if _, err := w.Write(p); err != nil {
			return err
		}
		f.Flush()
	}
	return nil
}

// recorder is a response writer that keeps what it is given.
type recorder struct {
	answer answer
	open   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.answer.header }

func (r *recorder) WriteHeader(status int) { r.answer.status = status }

func (r *recorder) Write(p []byte) (int, error) { return r.open.Write(p) }

// Flush ends a piece.
func (r *recorder) Flush() {
	if r.open.Len() > 0 {
		r.answer.pieces = append(r.answer.pieces, bytes.Clone(r.open.Bytes()))
		r.open.Reset()
	}
}
