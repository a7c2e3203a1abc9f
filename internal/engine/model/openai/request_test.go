package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conversation"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/openai"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// inMemory returns a model whose server keeps its requests.
func inMemory(t testing.TB, info model.Info, lines string, c modeltest.Config) (*openai.Model, *modeltest.Server) {
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n"+lines), "test.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c.Script, c.Keep = s, -1
	server := modeltest.OpenAI(c)
	m, err := openai.New(openai.Config{Info: info, BaseURL: "http://test.invalid/v1", Key: key, HTTP: modeltest.Transport(server)})
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

const anyAnswer = `{"again":true,"do":[{"text":"fine"}]}`

func send(t testing.TB, m *openai.Model, req model.Request) modeltest.Answer {
	t.Helper()
	a, err := modeltest.Collect(m.Stream(context.Background(), req))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type body struct {
	Messages []json.RawMessage          `json:"messages"`
	Fields   map[string]json.RawMessage `json:"-"`
}

func sent(t *testing.T, s *modeltest.Server, i int) body {
	t.Helper()
	var b body
	raw := s.Requests()[i].Body
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &b.Fields); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRequestsShareTheirPrefixAndReadItFromTheCache(t *testing.T) {
	m, server := inMemory(t, gpt(), `
{"do":[{"thinking":"hm"},{"text":"I look"},{"call":"Read","id":"a1","input":{"path":"x"}},{"call":"Read","id":"a2","input":{"path":"y"}}]}
{"do":[{"call":"Bash","id":"b1","input":{"command":"ls"}}]}
{"do":[{"text":"done"}]}
{"do":[{"text":"you are welcome"}]}`, modeltest.Config{})
	req := modeltest.Ask("what is in x and y?")
	req.SessionID = "ses_x"
	var before []byte
	for step := range 4 {
		a := send(t, m, req)
		raw := server.Requests()[step].Body
		// All that a request says of the conversation but the closing bracket of its
		// messages is at the beginning of the next.
		end := bytes.Index(raw, []byte(`],"model":`))
		if end < 0 || !bytes.HasPrefix(raw, before) {
			t.Fatalf("request %d does not begin with the one before:\n%s\n--\n%s", step, raw, before)
		}
		if step > 0 && a.Done.Usage.CacheReadTokens == 0 {
			t.Fatalf("request %d read nothing from the cache", step)
		}
		before = raw[:end]
		req.Messages = append(req.Messages, a.Message(m.Info()))
		calls := a.Message(m.Info()).Calls()
		for _, c := range calls {
			req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleToolResult, ToolCallID: c.ID, Content: []protocol.Block{protocol.Text("output of " + c.ID)}})
		}
		if len(calls) == 0 {
			req.Messages = append(req.Messages, protocol.UserText("thanks"))
		}
	}
	if got := string(sent(t, server, 0).Fields["prompt_cache_key"]); got != `"ses_x"` {
		t.Error(got)
	}
}

func TestImagesOfResultsFollowAllResults(t *testing.T) {
	m, server := inMemory(t, gpt(), anyAnswer, modeltest.Config{})
	req := modeltest.Ask("go")
	req.Blob = conversation.Blob
	image := protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: "png"}
	req.Messages = append(req.Messages,
		protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.ToolUse("c1", "Read", nil), protocol.ToolUse("c2", "Read", nil)}},
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", Content: []protocol.Block{image}},
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c2", Content: []protocol.Block{protocol.Text("two")}})
	send(t, m, req)
	b := sent(t, server, 0)
	for i, want := range []string{`"role":"system"`, `"role":"user"`, `"role":"assistant"`, `"tool_call_id":"c1"`, `"tool_call_id":"c2"`, `data:image/png;base64,`} {
		if !bytes.Contains(b.Messages[i], []byte(want)) {
			t.Errorf("message %d is %s, want %s", i, b.Messages[i], want)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files")

// TestRequestIsThisByteForByte holds the bytes of one conversation with all kinds
// of blocks: a change of them costs every user the cache once.
func TestRequestIsThisByteForByte(t *testing.T) {
	m, server := inMemory(t, gpt(), anyAnswer, modeltest.Config{})
	req := conversation.Fixed(m.Info())
	send(t, m, req)
	got := server.Requests()[0].Body
	if *update {
		if err := os.WriteFile("testdata/request.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/request.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestSchemasKeepTheirBytes(t *testing.T) {
	m, server := inMemory(t, gpt(), anyAnswer, modeltest.Config{})
	send(t, m, modeltest.Ask("go"))
	if raw := server.Requests()[0].Body; !bytes.Contains(raw, []byte(`"parameters":{"type":"object","properties":{"command":{"type":"string"},"a":{}}}`)) {
		t.Fatalf("%s", raw)
	}
}

func TestThinkingAndLimitsInTheServersWords(t *testing.T) {
	levels := map[model.ThinkingLevel]string{model.ThinkingOff: "none", model.ThinkingHigh: "max"}
	tests := []struct {
		name   string
		compat model.Compat
		level  model.ThinkingLevel
		want   string // the fields, by name
	}{
		{"OpenAI", model.Compat{}, model.ThinkingHigh, `{"max_completion_tokens":5000,"reasoning_effort":"high"}`},
		{"OpenAI, off", model.Compat{}, model.ThinkingOff, `{"max_completion_tokens":5000}`},
		{"its own words", model.Compat{Levels: levels}, model.ThinkingHigh, `{"max_completion_tokens":5000,"reasoning_effort":"max"}`},
		{"a word for off", model.Compat{Levels: levels}, model.ThinkingOff, `{"max_completion_tokens":5000,"reasoning_effort":"none"}`},
		{"never off", model.Compat{Levels: map[model.ThinkingLevel]string{model.ThinkingOff: ""}}, model.ThinkingOff, `{"max_completion_tokens":5000}`},
		{"no effort with tools", model.Compat{NoEffortWithTools: true, Levels: levels}, model.ThinkingHigh, `{"max_completion_tokens":5000,"reasoning_effort":"none"}`},
		{"the older limit", model.Compat{MaxTokensField: "max_tokens", NoEffort: true}, model.ThinkingHigh, `{"max_tokens":5000}`},
		{"OpenRouter", model.Compat{ThinkingFormat: "openrouter"}, model.ThinkingHigh, `{"max_completion_tokens":5000,"reasoning":{"effort":"high"}}`},
		{"OpenRouter, off", model.Compat{ThinkingFormat: "openrouter"}, model.ThinkingOff, `{"max_completion_tokens":5000,"reasoning":{"effort":"none"}}`},
		{"DeepSeek", model.Compat{ThinkingFormat: "deepseek"}, model.ThinkingHigh, `{"max_completion_tokens":5000,"reasoning_effort":"high","thinking":{"type":"enabled"}}`},
		{"DeepSeek, off", model.Compat{ThinkingFormat: "deepseek"}, model.ThinkingOff, `{"max_completion_tokens":5000,"thinking":{"type":"disabled"}}`},
		{"Qwen", model.Compat{ThinkingFormat: "qwen", NoEffort: true}, model.ThinkingHigh, `{"enable_thinking":true,"max_completion_tokens":5000}`},
		{"Together, off", model.Compat{ThinkingFormat: "together", NoEffort: true}, model.ThinkingOff, `{"max_completion_tokens":5000,"reasoning":{"enabled":false}}`},
		{"none", model.Compat{ThinkingFormat: "none"}, model.ThinkingHigh, `{"max_completion_tokens":5000}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info := gpt()
			info.Compat = tt.compat
			m, server := inMemory(t, info, anyAnswer, modeltest.Config{NoEffortWithTools: tt.compat.NoEffortWithTools})
			req := modeltest.Ask("go")
			req.Thinking, req.MaxTokens = tt.level, 5000
			send(t, m, req)
			f := sent(t, server, 0).Fields
			for _, name := range []string{"messages", "model", "tools", "stream", "stream_options"} {
				delete(f, name)
			}
			if got, _ := json.Marshal(f); string(got) != tt.want {
				t.Errorf("sent %s, want %s", got, tt.want)
			}
		})
	}
}

func TestReasoningGoesBackWhereItIsWanted(t *testing.T) {
	info := gpt()
	info.Provider = "deepseek"
	info.Compat = model.Compat{ReasoningContent: true, ThinkingFormat: "deepseek"}
	m, server := inMemory(t, info, `{"do":[{"thinking":"hm"},{"call":"Read","id":"a","input":{}}]}`+"\n"+anyAnswer, modeltest.Config{ReasoningContent: true})
	req := modeltest.Ask("go")
	a := send(t, m, req)
	req.Messages = append(req.Messages, a.Message(info),
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "a", Content: []protocol.Block{protocol.Text("x")}})
	send(t, m, req)
	if b := sent(t, server, 1); !bytes.Contains(b.Messages[2], []byte(`"reasoning_content":"hm"`)) {
		t.Fatalf("%s", b.Messages[2])
	}
}
