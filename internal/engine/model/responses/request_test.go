package responses_test

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
	"scorel/internal/engine/model/responses"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// inMemory returns a model whose server keeps its requests.
func inMemory(t testing.TB, info model.Info, lines string) (*responses.Model, *modeltest.Server) {
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n"+lines), "test.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Responses(modeltest.Config{Script: s, Keep: -1})
	m, err := responses.New(responses.Config{Info: info, BaseURL: "http://test.invalid/v1", Key: key, HTTP: modeltest.Transport(server)})
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

const anyAnswer = `{"again":true,"do":[{"text":"fine"}]}`

func send(t testing.TB, m *responses.Model, req model.Request) modeltest.Answer {
	t.Helper()
	a, err := modeltest.Collect(m.Stream(context.Background(), req))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sent returns the items of a request in short: type or role, and id where it has one.
func sent(t *testing.T, s *modeltest.Server, i int) string {
	t.Helper()
	var b struct {
		Input []struct{ Type, Role, ID, Phase string }
	}
	if err := json.Unmarshal(s.Requests()[i].Body, &b); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, it := range b.Input {
		word := it.Type
		if it.Role != "" {
			word = it.Role
		}
		if it.ID != "" {
			word += " " + it.ID
		}
		out = append(out, word)
	}
	return strings.Join(out, ", ")
}

// reply makes the messages after an answer: itself, and results of its calls or a
// word of thanks.
func reply(a modeltest.Answer, info model.Info) []protocol.Message {
	msg := a.Message(info)
	out := []protocol.Message{msg}
	for _, c := range msg.Calls() {
		out = append(out, protocol.Message{Role: protocol.RoleToolResult, ToolCallID: c.ID, Content: []protocol.Block{protocol.Text("output of " + c.ID)}})
	}
	if len(out) == 1 {
		out = append(out, protocol.UserText("thanks"))
	}
	return out
}

func TestRequestsShareTheirPrefixAndReadItFromTheCache(t *testing.T) {
	m, server := inMemory(t, gpt(), `
{"do":[{"thinking":"hm"},{"text":"I look"},{"call":"Read","id":"a1","input":{"path":"x"}},{"call":"Read","id":"a2","input":{"path":"y"}}]}
{"do":[{"thinking":"so"},{"call":"Bash","id":"b1","input":{"command":"ls"}}]}
{"do":[{"text":"done"}]}
{"do":[{"text":"you are welcome"}]}`)
	req := modeltest.Ask("what is in x and y?")
	req.SessionID = "ses_x"
	var before []byte
	for step := range 4 {
		a := send(t, m, req)
		raw := server.Requests()[step].Body
		// All of a request but its closing brackets is at the beginning of the
		// next.
		if !bytes.HasPrefix(raw, before) {
			t.Fatalf("request %d does not begin with the one before:\n%s\n--\n%s", step, raw, before)
		}
		if step > 0 && a.Done.Usage.CacheReadTokens == 0 {
			t.Fatalf("request %d read nothing from the cache", step)
		}
		before = bytes.TrimSuffix(raw, []byte("]}"))
		req.Messages = append(req.Messages, reply(a, m.Info())...)
	}
	if !bytes.Contains(before, []byte(`"prompt_cache_key":"ses_x"`)) {
		t.Errorf("%s", before)
	}
}

func TestWhatTheServerMadeGoesBackWhole(t *testing.T) {
	m, server := inMemory(t, gpt(), `{"do":[{"thinking":"hm"},{"text":"I look"},{"thinking":"so"},{"call":"Read","id":"a1","input":{"path":"x"}},{"call":"Read","id":"a2","input":{}}]}`+"\n"+anyAnswer)
	req := modeltest.Ask("go")
	a := send(t, m, req)
	req.Messages = append(req.Messages, reply(a, m.Info())...)
	send(t, m, req)
	want := "user, reasoning rs_000001_0, assistant msg_000001_1_r0, reasoning rs_000001_2, function_call fc_000001_3_r2, function_call fc_000001_4, function_call_output, function_call_output"
	if got := sent(t, server, 1); got != want {
		t.Errorf("sent %s", got)
	}
	if raw := server.Requests()[1].Body; !bytes.Contains(raw, []byte(`"phase":"final_answer"`)) || !bytes.Contains(raw, []byte(`"summary":[{"type":"summary_text","text":"hm"}]`)) {
		t.Errorf("%s", raw)
	}
}

func TestReasoningGoesBackOnlyWithWhatFollowedIt(t *testing.T) {
	whole := func(t *testing.T) (*responses.Model, *modeltest.Server, model.Request) {
		m, server := inMemory(t, gpt(), `{"do":[{"thinking":"hm"},{"text":"I look"},{"call":"Read","id":"a1","input":{}}]}`+"\n"+anyAnswer)
		req := modeltest.Ask("go")
		req.Messages = append(req.Messages, reply(send(t, m, req), m.Info())...)
		return m, server, req
	}
	tests := []struct {
		name   string
		change func(*protocol.Message)
		want   string
	}{
		{"all", func(*protocol.Message) {}, "user, reasoning rs_000001_0, assistant msg_000001_1_r0, function_call fc_000001_2, function_call_output"},
		{"the text broke off", func(m *protocol.Message) { m.Content[1].Provider = nil }, "user, assistant, function_call, function_call_output"},
		{"the reasoning is lost", func(m *protocol.Message) { m.Content = m.Content[1:] }, "user, assistant, function_call, function_call_output"},
		{"the text is lost", func(m *protocol.Message) { m.Content = append(m.Content[:1:1], m.Content[2:]...) }, "user, function_call, function_call_output"},
		{"by another model", func(m *protocol.Message) { m.Model = "gpt-other" }, "user, assistant, function_call, function_call_output"},
		{"by another provider", func(m *protocol.Message) { m.Provider = "azure" }, "user, assistant, function_call, function_call_output"},
		{"through another API", func(m *protocol.Message) {
			for i := range m.Content {
				m.Content[i].Provider.API = string(model.APIOpenAI)
			}
		}, "user, assistant, function_call, function_call_output"},
		{"damaged", func(m *protocol.Message) { m.Content[0].Provider.Data = json.RawMessage(`"x"`) }, "user, assistant, function_call, function_call_output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, server, req := whole(t)
			tt.change(&req.Messages[1])
			send(t, m, req)
			if got := sent(t, server, 1); got != tt.want {
				t.Errorf("sent %s, want %s", got, tt.want)
			}
		})
	}
}

func TestIdsThatTheServerWouldRefuseAreLeftOut(t *testing.T) {
	long := strings.Repeat("x", 416)
	a, err := collect(t, gpt(), events(
		done(0, `{"type":"reasoning","id":"rs_`+long+`","encrypted_content":"`+modeltest.Seal("gpt-test", "rs_")+`","summary":[]}`),
		done(1, `{"type":"message","id":"msg_`+long+`","content":[{"type":"output_text","text":"yes"}]}`), completed))
	if err != nil {
		t.Fatal(err)
	}
	m, server := inMemory(t, gpt(), anyAnswer)
	req := modeltest.Ask("go")
	req.Messages = append(req.Messages, reply(a, m.Info())...)
	send(t, m, req)
	if got := sent(t, server, 0); got != "user, reasoning, assistant, user" {
		t.Errorf("sent %s", got)
	}
}

func TestPartsOfOneMessageGoBackAsOneMessage(t *testing.T) {
	a, err := collect(t, gpt(), events(text(0, 0, "a"), text(0, 1, "b"),
		done(0, `{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`), completed))
	if err != nil || len(a.Content) != 2 {
		t.Fatalf("%+v %v", a, err)
	}
	m, server := inMemory(t, gpt(), anyAnswer)
	req := modeltest.Ask("go")
	req.Messages = append(req.Messages, reply(a, m.Info())...)
	send(t, m, req)
	if got := sent(t, server, 0); got != "user, assistant msg_1, user" {
		t.Errorf("sent %s", got)
	}
}

func TestReasoningThatArrivesWithTheEndAloneIsKept(t *testing.T) {
	bare := `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}`
	whole := strings.Replace(bare, `"summary"`, `"encrypted_content":"`+modeltest.Seal("gpt-test", "rs_1")+`","summary"`, 1)
	message := `{"type":"message","id":"msg_1_0_r1","content":[{"type":"output_text","text":"yes"}]}`
	a, err := collect(t, gpt(), events(added(0, bare), done(0, bare), done(1, message),
		`{"type":"response.completed","response":{"output":[`+whole+`,`+message+`]}}`))
	if err != nil || short(a.Content) != "(hm); yes" || a.Content[0].Provider == nil {
		t.Fatalf("%+v %v", a, err)
	}
}

func TestReasoningThatTheServerCannotReadIsLeftOutOnce(t *testing.T) {
	m, server := inMemory(t, gpt(), `{"do":[{"thinking":"hm"},{"call":"Read","id":"a1","input":{}}]}`+"\n"+anyAnswer)
	req := modeltest.Ask("go")
	req.Messages = append(req.Messages, reply(send(t, m, req), m.Info())...)
	altered := &req.Messages[1].Content[0]
	altered.Provider = &protocol.ProviderData{API: altered.Provider.API, Model: altered.Provider.Model,
		Data: bytes.Replace(altered.Provider.Data, []byte("gAAAAA"), []byte("gBBBBB"), 1)}
	if a := send(t, m, req); a.Text != "fine" {
		t.Fatalf("%+v", a)
	}
	if n := server.Count(); n != 3 || !strings.Contains(server.Requests()[1].Refused, "encrypted content") {
		t.Fatalf("%d requests, %q", n, server.Requests()[1].Refused)
	}
	if got := sent(t, server, 2); got != "user, function_call, function_call_output" {
		t.Errorf("sent %s", got)
	}
}

func TestAccountWithoutSummariesWorksWithoutThem(t *testing.T) {
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n"+anyAnswer), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Responses(modeltest.Config{Script: s, Keep: -1, NoSummaries: true})
	m, err := responses.New(responses.Config{Info: gpt(), BaseURL: "http://test.invalid/v1", HTTP: modeltest.Transport(server)})
	if err != nil {
		t.Fatal(err)
	}
	req := modeltest.Ask("go")
	req.Thinking = model.ThinkingHigh
	send(t, m, req)
	send(t, m, req)
	got := server.Requests()
	if len(got) != 3 || got[0].Refused == "" || !bytes.Contains(got[1].Body, []byte(`"reasoning":{"effort":"high"}`)) || !bytes.Equal(got[1].Body, got[2].Body) {
		t.Fatalf("%d requests, the last %s", len(got), got[len(got)-1].Body)
	}
}

func TestRefusalsOfOtherKindsAreNotSentAgain(t *testing.T) {
	for _, text := range []string{"Encrypted content is not supported with this model.", "no reasoning summaries here", "nonsense"} {
		m, server := inMemory(t, gpt(), `{"again":true,"do":[{"error":{"status":400,"message":"`+text+`"}}]}`)
		if _, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("go"))); err == nil || server.Count() != 1 {
			t.Errorf("%s: %v, %d requests", text, err, server.Count())
		}
	}
}

func TestImagesAndFilesOfResultsStayInThem(t *testing.T) {
	m, server := inMemory(t, gpt(), anyAnswer)
	req := modeltest.Ask("go")
	req.Blob = func(_ context.Context, sha string) ([]byte, error) {
		if sha == "pdf" {
			return []byte("%PDF-1.7"), nil
		}
		return conversation.Blob(t.Context(), sha)
	}
	req.Messages = append(req.Messages,
		protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.ToolUse("c1", "Read", nil), protocol.ToolUse("c2", "Read", nil)}},
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", Content: []protocol.Block{
			protocol.Text("an image"), {Type: protocol.BlockImage, MediaType: "image/png", Blob: "png"},
			{Type: protocol.BlockFile, MediaType: "application/pdf", Blob: "pdf"}}},
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c2", Content: []protocol.Block{protocol.Text("two"), protocol.Text("texts")}})
	send(t, m, req)
	raw := server.Requests()[0].Body
	for _, want := range []string{
		`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"an image"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,`,
		`{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,`,
		`{"type":"function_call_output","call_id":"c2","output":"two\ntexts"}`,
	} {
		if !bytes.Contains(raw, []byte(want)) {
			t.Errorf("lacks %s:\n%s", want, raw)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files")

// TestRequestIsThisByteForByte holds the bytes of one conversation with all kinds
// of blocks: a change of them costs every user the cache once.
func TestRequestIsThisByteForByte(t *testing.T) {
	m, server := inMemory(t, gpt(), anyAnswer)
	send(t, m, conversation.Fixed(m.Info()))
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

func TestSchemasKeepTheirOrder(t *testing.T) {
	m, server := inMemory(t, gpt(), anyAnswer)
	send(t, m, modeltest.Ask("go"))
	if raw := server.Requests()[0].Body; !bytes.Contains(raw, []byte(`"parameters":{"type":"object","properties":{"command":{"type":"string"},"a":{}}},"strict":false`)) {
		t.Fatalf("%s", raw)
	}
}

func TestThinkingAndLimitsInTheServersWords(t *testing.T) {
	levels := map[model.ThinkingLevel]string{model.ThinkingOff: "none", model.ThinkingHigh: "max"}
	never := map[model.ThinkingLevel]string{model.ThinkingOff: ""}
	const include = `"include":["reasoning.encrypted_content"],`
	tests := []struct {
		name   string
		compat model.Compat
		level  model.ThinkingLevel
		limit  int
		want   string // the fields, by name
	}{
		{"by its name", model.Compat{}, model.ThinkingHigh, 5000, `{` + include + `"max_output_tokens":5000,"reasoning":{"effort":"high","summary":"auto"}}`},
		{"off without a word", model.Compat{}, model.ThinkingOff, 0, `{"include":["reasoning.encrypted_content"]}`},
		{"its own words", model.Compat{Levels: levels}, model.ThinkingHigh, 0, `{` + include + `"reasoning":{"effort":"max","summary":"auto"}}`},
		{"a word for off", model.Compat{Levels: levels}, model.ThinkingOff, 0, `{` + include + `"reasoning":{"effort":"none"}}`},
		{"never off: the least", model.Compat{Levels: never}, model.ThinkingOff, 0, `{` + include + `"reasoning":{"effort":"low","summary":"auto"}}`},
		{"no effort", model.Compat{NoEffort: true}, model.ThinkingHigh, 0, `{` + include + `"reasoning":{"summary":"auto"}}`},
		{"no effort, off", model.Compat{NoEffort: true, Levels: levels}, model.ThinkingOff, 0, `{"include":["reasoning.encrypted_content"]}`},
		{"no reasoning field", model.Compat{ThinkingFormat: "none"}, model.ThinkingHigh, 0, `{"include":["reasoning.encrypted_content"]}`},
		{"the least limit", model.Compat{Levels: levels}, model.ThinkingOff, 3, `{` + include + `"max_output_tokens":16,"reasoning":{"effort":"none"}}`},
		{"the model's limit", model.Compat{Levels: levels}, model.ThinkingOff, 1 << 20, `{` + include + `"max_output_tokens":16000,"reasoning":{"effort":"none"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info := gpt()
			info.Compat = tt.compat
			m, server := inMemory(t, info, anyAnswer)
			req := modeltest.Ask("go")
			req.Thinking, req.MaxTokens = tt.level, tt.limit
			send(t, m, req)
			var f map[string]json.RawMessage
			if err := json.Unmarshal(server.Requests()[0].Body, &f); err != nil {
				t.Fatal(err)
			}
			if string(f["store"]) != "false" || string(f["parallel_tool_calls"]) != "true" || string(f["instructions"]) != `"You help."` {
				t.Errorf("%s", server.Requests()[0].Body)
			}
			for _, name := range []string{"input", "instructions", "model", "parallel_tool_calls", "store", "stream", "tools"} {
				delete(f, name)
			}
			if got, _ := json.Marshal(f); string(got) != tt.want {
				t.Errorf("sent %s, want %s", got, tt.want)
			}
		})
	}
}

func TestModelThatDoesNotThinkIsNotAskedForItsReasoning(t *testing.T) {
	info := gpt()
	info.Thinking = nil
	m, server := inMemory(t, info, anyAnswer)
	req := model.Request{Thinking: model.ThinkingHigh, Messages: []protocol.Message{protocol.UserText("go")}}
	send(t, m, req)
	want := `{"model":"gpt-test","stream":true,"store":false,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}]}`
	if got := string(server.Requests()[0].Body); got != want {
		t.Errorf("sent %s", got)
	}
}
