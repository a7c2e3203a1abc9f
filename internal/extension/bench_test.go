package extension

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/session/history"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// benchSet returns a set with one extension in TypeScript. The binary of a test links
// more than the program; what starting costs there is measured with the program.
func benchSet(b *testing.B, source string, log Log) *Set {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "one.ts"), []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
	s := New(Config{Host: &world{}, Log: log, Version: "test", Environ: func() ([]string, error) { return os.Environ(), nil }, Cache: filepath.Join(dir, "cache"),
		Session: rpc.Session{Cwd: dir}, Report: func(string, []byte) {},
		Find: func(context.Context) Found { return Find([]Source{{Dir: dir, Scope: User}}, nil) }})
	b.Cleanup(s.Close)
	return s
}

func BenchmarkLoad(b *testing.B) {
	const source = `export default { id: "one", tools: () => [] }`
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			s := benchSet(b, source, &fakeLog{})
			s.Load(b.Context())
			b.StopTimer()
			s.Close()
			b.StartTimer()
		}
	})
	b.Run("cached", func(b *testing.B) {
		s := benchSet(b, source, &fakeLog{})
		s.Load(b.Context())
		b.ResetTimer()
		for b.Loop() {
			t := New(s.cfg)
			t.Load(b.Context())
			b.StopTimer()
			t.Close()
			b.StartTimer()
		}
	})
}

func BenchmarkToolCallHook(b *testing.B) {
	s := benchSet(b, `export default function (pi: any) { pi.on("tool_call", () => undefined) }`, &fakeLog{})
	s.Load(b.Context())
	sub := s.Subscribers()[0]
	call := hook.ToolCall{ID: "c", Name: "Bash", Input: json.RawMessage(`{"command":"make test"}`)}
	for b.Loop() {
		if d, err := sub.BeforeTool(b.Context(), call); err != nil || d.Verdict != hook.Continue {
			b.Fatal(d, err)
		}
	}
}

func BenchmarkContextHook(b *testing.B) {
	log := &fakeLog{}
	var list []history.Element
	parent := protocol.EventID("")
	for i := range 10_000 {
		id := protocol.EventID("evt_" + strconv.Itoa(i))
		body := &protocol.MessageBody{Message: protocol.UserText("message " + strconv.Itoa(i))}
		log.add(id, parent, body)
		list = append(list, history.Element{Event: id, Message: &body.Message})
		parent = id
	}
	for _, c := range []struct{ name, body string }{
		{"unchanged", "return undefined"},
		{"newList", "return { messages: event.messages.slice() }"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := benchSet(b, `export default function (pi: any) { pi.on("context", (event: any) => { `+c.body+` }) }`, log)
			s.Load(b.Context())
			sub := s.Subscribers()[0]
			b.ResetTimer()
			for b.Loop() {
				got, err := sub.Context(b.Context(), list)
				if err != nil || len(got) != len(list) {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}
