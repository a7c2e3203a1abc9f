package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conversation"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/anthropic"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// body is a request as far as the tests look.
type body struct {
	MaxTokens int               `json:"max_tokens"`
	System    []json.RawMessage `json:"system"`
	Tools     []json.RawMessage `json:"tools"`
	Thinking  json.RawMessage   `json:"thinking"`
	Output    json.RawMessage   `json:"output_config"`
	Messages  []struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	} `json:"messages"`
}

// blocks lists the blocks of the messages with their role, without marks, and the
// indices of those marked.
func (b body) blocks(t *testing.T) (list []string, marks []int) {
	for _, m := range b.Messages {
		for _, raw := range m.Content {
			var f map[string]json.RawMessage
			if err := json.Unmarshal(raw, &f); err != nil {
				t.Fatal(err)
			}
			if _, ok := f["cache_control"]; ok {
				marks = append(marks, len(list))
				delete(f, "cache_control")
			}
			bare, _ := json.Marshal(f)
			list = append(list, m.Role+" "+string(bare))
		}
	}
	return list, marks
}

func sent(t *testing.T, s *modeltest.Server, i int) body {
	t.Helper()
	var b body
	if err := json.Unmarshal(s.Requests()[i].Body, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// inMemory returns a model whose server answers everything and keeps its requests.
func inMemory(t testing.TB, info model.Info, lines string) (*anthropic.Model, *modeltest.Server) {
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n"+lines), "test.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Anthropic(modeltest.Config{Script: s, Keep: -1})
	m, err := anthropic.New(anthropic.Config{Info: info, BaseURL: "http://test.invalid", Key: key, HTTP: modeltest.Transport(server)})
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

const anyAnswer = `{"again":true,"do":[{"text":"fine"}]}`

func send(t testing.TB, m *anthropic.Model, req model.Request) modeltest.Answer {
	t.Helper()
	a, err := modeltest.Collect(m.Stream(context.Background(), req))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRequestsShareTheirPrefixAndReadItFromTheCache(t *testing.T) {
	m, server := inMemory(t, claude(), `
{"do":[{"thinking":"hm"},{"text":"I look"},{"call":"Read","id":"a1","input":{"path":"x"}},{"call":"Read","id":"a2","input":{"path":"y"}}]}
{"do":[{"thinking":"more"},{"call":"Bash","id":"b1","input":{"command":"ls"}}]}
{"do":[{"text":"done"}]}
{"do":[{"text":"you are welcome"}]}`)
	req := modeltest.Ask("what is in x and y?")
	req.Thinking = model.ThinkingMedium
	var before []string
	var usage protocol.Usage
	for step := range 4 {
		a := send(t, m, req)
		b := sent(t, server, step)
		blocks, marks := b.blocks(t)
		if len(blocks) < len(before) || strings.Join(blocks[:len(before)], "\n") != strings.Join(before, "\n") {
			t.Fatalf("request %d does not begin with the one before:\n%s\n--\n%s", step, strings.Join(blocks, "\n"), strings.Join(before, "\n"))
		}
		if len(marks) == 0 || marks[len(marks)-1] != len(blocks)-1 || !bytes.Contains(b.System[0], []byte("cache_control")) || !bytes.Contains(b.Tools[1], []byte("cache_control")) {
			t.Fatalf("request %d: marks at %v of %d", step, marks, len(blocks))
		}
		if whole := usage.CacheReadTokens + usage.CacheWriteTokens; step > 0 && a.Done.Usage.CacheReadTokens != whole {
			t.Fatalf("request %d read %d tokens from the cache, %d were there", step, a.Done.Usage.CacheReadTokens, whole)
		}
		before, usage = blocks, a.Done.Usage
		req.Messages = append(req.Messages, a.Message(m.Info()))
		calls := a.Message(m.Info()).Calls()
		for _, c := range calls {
			req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleToolResult, ToolCallID: c.ID, Content: []protocol.Block{protocol.Text("output of " + c.ID)}})
		}
		if len(calls) == 0 {
			req.Messages = append(req.Messages, protocol.UserText("thanks"))
		}
	}
}

func TestMarksAreAtMostFifteenBlocksApart(t *testing.T) {
	for _, calls := range []int{1, 6, 7, 10, 14} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			m, server := inMemory(t, claude(), anyAnswer)
			req := modeltest.Ask("go")
			req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("yes")}}, protocol.UserText("now"))
			before := send(t, m, req).Done.Usage
			many := protocol.Message{Role: protocol.RoleAssistant}
			var results []protocol.Message
			for i := range calls {
				id := fmt.Sprintf("c%d", i)
				many.Content = append(many.Content, protocol.ToolUse(id, "Read", json.RawMessage(`{}`)))
				results = append(results, protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, Content: []protocol.Block{protocol.Text("x")}})
			}
			req.Messages = append(append(req.Messages, many), results...)
			a := send(t, m, req)
			blocks, marks := sent(t, server, 1).blocks(t)
			for i := 1; i < len(marks); i++ {
				if marks[i]-marks[i-1] > 15 {
					t.Errorf("marks at %v of %d blocks", marks, len(blocks))
				}
			}
			// The first is where the request before ended, so that all of it is read.
			if whole := before.CacheReadTokens + before.CacheWriteTokens; marks[0] != 2 || marks[len(marks)-1] != len(blocks)-1 || a.Done.Usage.CacheReadTokens != whole {
				t.Errorf("marks at %v of %d blocks, %d of %d tokens read", marks, len(blocks), a.Done.Usage.CacheReadTokens, whole)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the golden files")

// TestRequestIsThisByteForByte holds the bytes of one conversation with all kinds
// of blocks: a change of them costs every user the cache once.
func TestRequestIsThisByteForByte(t *testing.T) {
	m, server := inMemory(t, claude(), anyAnswer)
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

func TestResultsAndTheTextBehindThemAreOneUserMessage(t *testing.T) {
	m, server := inMemory(t, claude(), anyAnswer)
	req := modeltest.Ask("go")
	req.Messages = append(req.Messages,
		protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.ToolUse("c1", "Read", nil), protocol.ToolUse("c2", "Read", nil)}},
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", Content: []protocol.Block{protocol.Text("one")}},
		protocol.ToolError("c2", "Read", "no such file"),
		protocol.UserText("stop that"))
	send(t, m, req)
	b := sent(t, server, 0)
	if len(b.Messages) != 3 || len(b.Messages[2].Content) != 3 {
		t.Fatalf("%+v", b.Messages)
	}
	for i, want := range []string{`"tool_use_id":"c1"`, `"is_error":true`, `"text":"stop that"`} {
		if !bytes.Contains(b.Messages[2].Content[i], []byte(want)) {
			t.Errorf("block %d is %s, want %s", i, b.Messages[2].Content[i], want)
		}
	}
}

const png = "\x89PNG\r\n\x1a\n and the rest"

func TestImagesAndFilesAreSentWhereTheyFit(t *testing.T) {
	blobs := func(_ context.Context, sha string) ([]byte, error) {
		switch sha {
		case "png":
			return []byte(png), nil
		case "big":
			return append([]byte(png), make([]byte, 6<<20)...), nil
		case "txt":
			return []byte("a text"), nil
		case "pdf":
			return []byte("%PDF-1.7"), nil
		}
		return nil, errors.New("no such blob")
	}
	block := func(kind protocol.BlockType, media, blob string) protocol.Block {
		return protocol.Block{Type: kind, MediaType: media, Blob: blob, Name: "n." + blob}
	}
	tests := []struct {
		block protocol.Block
		want  string
	}{
		{block(protocol.BlockImage, "image/png", "png"), `"media_type":"image/png"`},
		{block(protocol.BlockImage, "image/jpeg", "png"), `"media_type":"image/png"`}, // the bytes decide
		{block(protocol.BlockImage, "image/png", "big"), "too large for this model"},
		{block(protocol.BlockImage, "image/png", "txt"), "cannot be read as an image"},
		{block(protocol.BlockImage, "image/png", "gone"), "not available any more"},
		{block(protocol.BlockImage, "image/tiff", "png"), "not shown to this model"},
		{block(protocol.BlockFile, "text/plain", "txt"), `\u003cfile name=\"n.txt\"\u003e\na text\n`},
		{block(protocol.BlockFile, "application/pdf", "pdf"), `"type":"document"`},
		{block(protocol.BlockFile, "application/zip", "txt"), "not shown to this model"},
	}
	for _, tt := range tests {
		for _, place := range []string{"user", "result", "error"} {
			m, server := inMemory(t, claude(), anyAnswer)
			req := modeltest.Ask("look")
			req.Blob = blobs
			if place == "user" {
				req.Messages[0].Content = append(req.Messages[0].Content, tt.block)
			} else {
				req.Messages = append(req.Messages,
					protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.ToolUse("c1", "Read", nil)}},
					protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", Content: []protocol.Block{tt.block}, IsError: place == "error"})
			}
			send(t, m, req)
			if raw := server.Requests()[0].Body; !bytes.Contains(raw, []byte(tt.want)) {
				t.Errorf("%s %s in %s: %s", tt.block.MediaType, tt.block.Blob, place, raw)
			}
		}
	}
}

func TestThinkingLevels(t *testing.T) {
	adaptive := func(i *model.Info) {
		i.Thinking = []model.ThinkingLevel{model.ThinkingLow, model.ThinkingHigh, model.ThinkingMax}
		i.Compat = model.Compat{Adaptive: true, BlockBinding: true}
	}
	tests := []struct {
		name   string
		change func(*model.Info)
		level  model.ThinkingLevel
		want   string
		effort string
	}{
		{"off", func(*model.Info) {}, model.ThinkingOff, "", ""},
		{"a budget", func(*model.Info) {}, model.ThinkingMedium, `{"budget_tokens":10240,"type":"enabled"}`, ""},
		{"a level that it lacks", func(*model.Info) {}, model.ThinkingMax, `{"budget_tokens":20480,"type":"enabled"}`, ""},
		{"a small output limit", func(i *model.Info) { i.MaxTokens = 4096 }, model.ThinkingHigh, `{"budget_tokens":3072,"type":"enabled"}`, ""},
		{"no levels", func(i *model.Info) { i.Thinking = nil }, model.ThinkingHigh, "", ""},
		{"by effort", adaptive, model.ThinkingHigh, `{"block_binding":{"prefix_mismatch_behavior":"drop_block"},"display":"summarized","type":"adaptive"}`, `{"effort":"high"}`},
		{"by effort, off", adaptive, model.ThinkingOff, `{"type":"disabled"}`, ""},
		{"by effort, never off", func(i *model.Info) {
			adaptive(i)
			i.Compat.BlockBinding = false
			i.Compat.Levels = map[model.ThinkingLevel]string{model.ThinkingOff: ""}
		}, model.ThinkingOff, `{"display":"summarized","type":"adaptive"}`, `{"effort":"low"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info := claude()
			tt.change(&info)
			m, server := inMemory(t, info, anyAnswer)
			req := modeltest.Ask("go")
			req.Thinking = tt.level
			send(t, m, req)
			b := sent(t, server, 0)
			if got := canonical(t, b.Thinking); got != tt.want || canonical(t, b.Output) != tt.effort {
				t.Errorf("thinking %s %s, want %s %s", got, b.Output, tt.want, tt.effort)
			}
		})
	}
}

func canonical(t *testing.T, raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func TestThinkingWithABudgetRestsWhileAnotherModelsCallIsOpen(t *testing.T) {
	m, server := inMemory(t, claude(), anyAnswer)
	req := modeltest.Ask("go")
	req.Thinking = model.ThinkingHigh
	req.Messages = append(req.Messages,
		protocol.Message{Role: protocol.RoleAssistant, Provider: "openai", Content: []protocol.Block{protocol.ToolUse("c1", "Read", nil)}},
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", Content: []protocol.Block{protocol.Text("x")}})
	send(t, m, req)
	if b := sent(t, server, 0); len(b.Thinking) > 0 {
		t.Fatalf("%s", b.Thinking)
	}
}

func TestOutputLimitStaysInsideModelAndWindow(t *testing.T) {
	tests := []struct{ window, most, asked, want int }{
		{200_000, 64_000, 0, 32_000},
		{200_000, 64_000, 64_000, 64_000},
		{200_000, 8_000, 64_000, 8_000},
		{0, 0, 0, 8_192},
		{0, 0, 50_000, 50_000},
		{20_000, 64_000, 64_000, 20_000},
		{500, 64_000, 64_000, 1_024},
	}
	for _, tt := range tests {
		info := claude()
		info.ContextWindow, info.MaxTokens = tt.window, tt.most
		m, server := inMemory(t, info, anyAnswer)
		send(t, m, model.Request{Messages: []protocol.Message{{Role: protocol.RoleUser}}, MaxTokens: tt.asked})
		if got := sent(t, server, 0).MaxTokens; got > tt.want || got < tt.want-20 {
			t.Errorf("%+v: sent %d", tt, got)
		}
	}
}

// FuzzAnswer feeds any bytes as an answer: whatever comes, the stream keeps the
// rules of model.Model and ends.
func FuzzAnswer(f *testing.F) {
	f.Add("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"y\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n")
	f.Add("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n")
	f.Add("<html>")
	f.Add("{\"error\":\"x\"}")
	f.Fuzz(func(t *testing.T, answer string) {
		m, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: "http://test.invalid", Key: key, HTTP: modeltest.Transport(raw(answer))})
		if err != nil {
			t.Fatal(err)
		}
		_, err = modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("go")))
		if err != nil && strings.Contains(err.Error(), "modeltest: ") {
			t.Fatal(err)
		}
	})
}
