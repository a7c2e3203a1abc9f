package google_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conversation"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/google"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// inMemory returns a model whose server keeps its requests.
func inMemory(t testing.TB, info model.Info, lines string) (*google.Model, *modeltest.Server) {
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n"+lines), "test.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Google(modeltest.Config{Script: s, Keep: -1})
	m, err := google.New(google.Config{Info: info, BaseURL: "http://test.invalid", Key: key, HTTP: modeltest.Transport(server)})
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

const anyAnswer = `{"again":true,"do":[{"text":"fine"}]}`

func send(t testing.TB, m *google.Model, req model.Request) modeltest.Answer {
	t.Helper()
	a, err := modeltest.Collect(m.Stream(context.Background(), req))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// named is the model of the tests under another name.
func named(id string) model.Info {
	info := gemini()
	info.ID = id
	return info
}

type body struct {
	Contents   []json.RawMessage          `json:"contents"`
	Generation json.RawMessage            `json:"generationConfig"`
	Fields     map[string]json.RawMessage `json:"-"`
}

func sent(t *testing.T, s *modeltest.Server, i int) body {
	t.Helper()
	var b body
	raw := s.Requests()[i].Body
	if err := errors.Join(json.Unmarshal(raw, &b), json.Unmarshal(raw, &b.Fields)); err != nil {
		t.Fatal(err)
	}
	return b
}

// contents writes what was sent of the conversation.
func contents(t *testing.T, s *modeltest.Server, i int) string {
	t.Helper()
	return string(bytes.Join(raws(sent(t, s, i).Contents), []byte("\n")))
}

func raws(list []json.RawMessage) [][]byte {
	var out [][]byte
	for _, r := range list {
		out = append(out, r)
	}
	return out
}

func result(id, text string, more ...protocol.Block) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, Content: append([]protocol.Block{protocol.Text(text)}, more...)}
}

func foreign(blocks ...protocol.Block) protocol.Message {
	return protocol.Message{Role: protocol.RoleAssistant, Provider: "elsewhere", Model: "other", Content: blocks}
}

func TestRequestsShareTheirPrefixAndReadItFromTheCache(t *testing.T) {
	m, server := inMemory(t, gemini(), `
{"do":[{"thinking":"hm"},{"text":"I look"},{"call":"Read","id":"a1","input":{"path":"x"}},{"call":"Read","id":"a2","input":{"path":"y"}}]}
{"do":[{"call":"Bash","id":"b1","input":{"command":"ls"}}]}
{"do":[{"text":"done"}]}
{"do":[{"text":"you are welcome"}]}`)
	req := modeltest.Ask("what is in x and y?")
	req.Messages = append([]protocol.Message{protocol.UserText("before"), foreign(protocol.ToolUse("f1", "Read", nil)), result("f1", "x")}, req.Messages...)
	var before []json.RawMessage
	for step := range 4 {
		a := send(t, m, req)
		now := sent(t, server, step).Contents
		for i, c := range before {
			if !bytes.Equal(c, now[i]) {
				t.Errorf("request %d has another content %d:\n%s\n%s", step, i, c, now[i])
			}
		}
		if step > 0 && a.Done.Usage.CacheReadTokens == 0 {
			t.Errorf("request %d reads nothing from the cache: %+v", step, a.Done.Usage)
		}
		before = now
		msg := a.Message(m.Info())
		req.Messages = append(req.Messages, msg)
		for _, c := range msg.Calls() {
			req.Messages = append(req.Messages, result(c.ID, "x"))
		}
		if len(msg.Calls()) == 0 {
			req.Messages = append(req.Messages, protocol.UserText("thanks"))
		}
	}
}

var update = flag.Bool("update", false, "write the golden files")

// TestRequestIsThisByteForByte holds the bytes of one conversation with all kinds
// of blocks: a change of them costs every user the cache once.
func TestRequestIsThisByteForByte(t *testing.T) {
	for _, id := range []string{"gemini-3-test", "gemini-2.5-flash"} {
		m, server := inMemory(t, named(id), anyAnswer)
		req := conversation.Fixed(m.Info())
		req.MaxTokens = 16_384
		send(t, m, req)
		got := server.Requests()[0].Body
		file := "testdata/" + id + ".json"
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

func TestSchemasKeepTheirBytesButForTheNameOfTheDialect(t *testing.T) {
	const rest = `"type":"object","properties":{"z":{"$ref":"#/$defs/z"},"a":{"$schema":1}},"$defs":{"z":{"const":"<"}},"additionalProperties":false`
	const dialect = `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	for _, schema := range []string{
		`{` + rest + `}`,
		`{` + dialect + `,` + rest + `}`,
		`{ ` + dialect + ` , ` + rest + `}`,
		`{` + rest + `,` + dialect + `}`,
		`{` + strings.Replace(rest, `,"properties"`, `,`+dialect+`,"properties"`, 1) + `}`,
	} {
		m, server := inMemory(t, gemini(), anyAnswer)
		req := modeltest.Ask("go")
		req.Tools[0].Schema = json.RawMessage(schema)
		send(t, m, req)
		if raw := server.Requests()[0].Body; !bytes.Contains(raw, []byte(`"parametersJsonSchema":{`+rest+`}`)) {
			t.Errorf("%s became %s", schema, raw)
		}
	}
}

func TestThinkingInTheWordsOfTheFamily(t *testing.T) {
	minimal := gemini()
	minimal.Thinking = append([]model.ThinkingLevel{model.ThinkingMinimal}, minimal.Thinking...)
	minimal.Compat.Levels = map[model.ThinkingLevel]string{model.ThinkingOff: "", model.ThinkingMinimal: "minimal"}
	high := gemini()
	high.Thinking = append(high.Thinking, model.ThinkingXHigh)
	gemma := named("gemma-4-test")
	gemma.Compat.Levels = map[model.ThinkingLevel]string{model.ThinkingLow: "MINIMAL", model.ThinkingHigh: "HIGH"}
	mute := named("gemini-2.0-flash")
	mute.Thinking = nil
	tests := []struct {
		name  string
		info  model.Info
		level model.ThinkingLevel
		max   int
		want  string
	}{
		{"a level", gemini(), model.ThinkingHigh, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}`},
		{"a level that it lacks", gemini(), model.ThinkingMinimal, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"a level above the vendor's", high, model.ThinkingXHigh, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}`},
		{"never off", gemini(), model.ThinkingOff, 500, `{"maxOutputTokens":500,"thinkingConfig":{"thinkingLevel":"LOW"}}`},
		{"never off, with less than low", minimal, model.ThinkingOff, 0, `{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}`},
		{"a model of tomorrow", named("gemini-12-x"), model.ThinkingMedium, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MEDIUM"}}`},
		{"a name without a number", named("gemini-flash-latest"), model.ThinkingMedium, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MEDIUM"}}`},
		{"its own words", gemma, model.ThinkingLow, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MINIMAL"}}`},
		{"a budget", named("gemini-2.5-flash"), model.ThinkingMedium, 65_536, `{"maxOutputTokens":65536,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":10240}}`},
		{"off", named("gemini-2.5-flash"), model.ThinkingOff, 0, `{"thinkingConfig":{"thinkingBudget":0}}`},
		{"never quite off", named("gemini-2.5-pro"), model.ThinkingOff, 0, `{"thinkingConfig":{"thinkingBudget":128}}`},
		{"a small output limit", named("gemini-2.5-flash"), model.ThinkingHigh, 4_096, `{"maxOutputTokens":4096,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":3072}}`},
		{"an output limit that leaves nothing", named("gemini-2.5-flash"), model.ThinkingHigh, 1_100, `{"maxOutputTokens":1100,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":0}}`},
		{"a limit above the model's", gemini(), model.ThinkingLow, 900_000, `{"maxOutputTokens":65536,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"no levels", mute, model.ThinkingHigh, 0, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, server := inMemory(t, tt.info, anyAnswer)
			req := modeltest.Ask("go")
			req.Thinking, req.MaxTokens = tt.level, tt.max
			send(t, m, req)
			if got := string(sent(t, server, 0).Generation); got != tt.want {
				t.Errorf("sent %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSignaturesGoBackOnTheirPartsToTheirModelAlone(t *testing.T) {
	sign := func(s string) string { return modeltest.Sign("gemini-3-test", s) }
	call := modeltest.SignCall("gemini-3-test", "Read", json.RawMessage(`{"path":"x"}`))
	own := named("gemini-3-test")
	history := func() []protocol.Message {
		thought := protocol.Block{Type: protocol.BlockThinking, Thinking: "hm", Provider: model.GoogleData{ThoughtSignature: sign("hm")}.Block(own)}
		summary := protocol.Block{Type: protocol.BlockThinking, Thinking: "a summary for people"}
		text := protocol.Block{Type: protocol.BlockText, Text: "I look", Provider: model.GoogleData{ThoughtSignature: sign("I look")}.Block(own)}
		one, two := protocol.ToolUse("a1", "Read", json.RawMessage(`{"path":"x"}`)), protocol.ToolUse("a2", "Read", nil)
		one.Provider = model.GoogleData{ThoughtSignature: call, CallID: "srv/1"}.Block(own)
		two.Provider = model.GoogleData{CallID: "srv/2"}.Block(own)
		return []protocol.Message{
			protocol.UserText("go"),
			{Role: protocol.RoleAssistant, Provider: own.Provider, Model: own.ID, Content: []protocol.Block{summary, thought, text, one, two}},
			result("a1", "1"), result("a2", "2"),
		}
	}
	const results = `{"role":"user","parts":[{"functionResponse":{"id":"a1","name":"Read","response":{"output":"1"}}},{"functionResponse":{"id":"a2","name":"Read","response":{"output":"2"}}}]}`
	first := `{"functionCall":{"id":"a1","name":"Read","args":{"path":"x"}}`
	const second = `,{"functionCall":{"id":"a2","name":"Read","args":{}}}]}`
	made := [2]string{`"id":"a1",`, `"id":"a2",`}
	elsewhere := own
	elsewhere.Provider = "proxy"
	for name, tt := range map[string]struct {
		info model.Info
		ids  [2]string
		want string
	}{
		"the same model": {own, [2]string{`"id":"srv/1",`, `"id":"srv/2",`}, `{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"` + sign("hm") + `"},{"text":"I look","thoughtSignature":"` + sign("I look") + `"},` +
			first + `,"thoughtSignature":"` + call + `"}` + second},
		"another model":             {named("gemini-4-argon"), made, `{"role":"model","parts":[{"text":"I look"},` + first + `,"thoughtSignature":"skip_thought_signature_validator"}` + second},
		"the same name elsewhere":   {elsewhere, made, `{"role":"model","parts":[{"text":"I look"},` + first + `,"thoughtSignature":"skip_thought_signature_validator"}` + second},
		"a model before signatures": {named("gemini-2.5-pro"), [2]string{}, `{"role":"model","parts":[{"text":"I look"},` + first + `}` + second},
	} {
		t.Run(name, func(t *testing.T) {
			m, server := inMemory(t, tt.info, anyAnswer)
			req := modeltest.Ask("")
			req.Messages = history()
			send(t, m, req)
			want := `{"role":"user","parts":[{"text":"go"}]}` + "\n" + tt.want + "\n" + results
			want = strings.NewReplacer(`"id":"a1",`, tt.ids[0], `"id":"a2",`, tt.ids[1]).Replace(want)
			if got := contents(t, server, 0); got != want {
				t.Errorf("sent %s\nwant %s", got, want)
			}
		})
	}
}

func TestServersThatGiveNoIdsGetNone(t *testing.T) {
	one, two := protocol.ToolUse("made-up-1", "Read", nil), protocol.ToolUse("made-up-2", "Read", nil)
	one.Provider = model.GoogleData{ThoughtSignature: "s"}.Block(gemini())
	m, server := inMemory(t, gemini(), anyAnswer)
	_, _ = modeltest.Collect(m.Stream(t.Context(), model.Request{Messages: []protocol.Message{protocol.UserText("go"),
		{Role: protocol.RoleAssistant, Provider: "google", Model: gemini().ID, Content: []protocol.Block{one, two}}, result("made-up-1", "1"), result("made-up-2", "2")}}))
	if got := contents(t, server, 0); strings.Contains(got, `"id"`) || !strings.Contains(got, `"thoughtSignature":"s"`) {
		t.Error(got) // this server refuses it: it does give ids
	}
}

func TestCallsOfAnotherModelInTheCurrentTurnAreTaken(t *testing.T) {
	for _, id := range []string{"gemini-3-test", "gemini-2.5-pro", "gemini-flash-latest"} {
		m, server := inMemory(t, named(id), anyAnswer)
		req := modeltest.Ask("go")
		req.Messages = append(req.Messages, foreign(protocol.ToolUse("a|1", "Read", nil), protocol.ToolUse("a|2", "Bash", nil)), result("a|1", "1"), result("a|2", "2"),
			foreign(protocol.Text("more"), protocol.ToolUse("a|1", "Read", nil)), result("a|1", "3"))
		send(t, m, req)
		want := 2 // one for each step
		if id == "gemini-2.5-pro" {
			want = 0
		}
		if n := strings.Count(contents(t, server, 0), "skip_thought_signature_validator"); n != want {
			t.Errorf("%s: %d stand-ins, want %d", id, n, want)
		}
	}
}

func TestMediaOfResultsStandWhereTheModelReadsThem(t *testing.T) {
	image := protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: "png"}
	lie := protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: "gif"}
	pdf := protocol.Block{Type: protocol.BlockFile, MediaType: "application/pdf", Name: "a.pdf", Blob: "text"}
	messages := []protocol.Message{
		{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("go"), image, pdf, lie}},
		foreign(protocol.ToolUse("a", "Read", nil), protocol.ToolUse("b", "Read", nil), protocol.ToolUse("c", "Read", nil)),
		result("a", "seen", image), {Role: protocol.RoleToolResult, ToolCallID: "b", Content: []protocol.Block{pdf}},
		protocol.ToolError("c", "Read", "no such file"),
		protocol.UserText("and now?"),
	}
	const png, doc = `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgouLi4u"}}`, `{"inlineData":{"mimeType":"application/pdf","data":"YSB0ZXh0/w=="}}`
	const user = `{"role":"user","parts":[{"text":"go"},` + png + `,` + doc + `,{"text":"[a GIF image, which this model cannot read]"}]}` + "\n"
	const calls = `{"role":"model","parts":[{"functionCall":{"id":"a","name":"Read","args":{}}SKIP},{"functionCall":{"id":"b","name":"Read","args":{}}},{"functionCall":{"id":"c","name":"Read","args":{}}}]}` + "\n"
	const failed = `{"functionResponse":{"id":"c","name":"Read","response":{"error":"no such file"}}}`
	bare := func(s string) string { // an older model has no ids
		return strings.NewReplacer(`"id":"a",`, "", `"id":"b",`, "", `"id":"c",`, "").Replace(s)
	}
	for id, want := range map[string]string{
		"gemini-3-test": user + strings.Replace(calls, "SKIP", `,"thoughtSignature":"skip_thought_signature_validator"`, 1) +
			`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"Read","response":{"output":"seen"},"parts":[` + png + `]}},` +
			`{"functionResponse":{"id":"b","name":"Read","response":{"output":"(see what is attached)"},"parts":[` + doc + `]}},` + failed + `]}` + "\n" +
			`{"role":"user","parts":[{"text":"and now?"}]}`,
		"gemini-2.5-flash": user + bare(strings.Replace(calls, "SKIP", "", 1)+
			`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"Read","response":{"output":"seen"}}},`+
			`{"functionResponse":{"id":"b","name":"Read","response":{"output":"(see the message behind the results)"}}},`+failed+`]}`) + "\n" +
			`{"role":"user","parts":[{"text":"[what result 1, of Read, holds besides text:]"},` + png + `,{"text":"[what result 2, of Read, holds besides text:]"},` + doc + `,{"text":"and now?"}]}`,
	} {
		m, server := inMemory(t, named(id), anyAnswer)
		send(t, m, model.Request{Messages: messages, Blob: conversation.Blob})
		if got := contents(t, server, 0); got != want {
			t.Errorf("%s: sent\n%s\nwant\n%s", id, got, want)
		}
	}
}

func TestMediaOfTheLastResultsFollowThem(t *testing.T) {
	image := protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: "png"}
	m, server := inMemory(t, named("gemini-2.5-flash"), anyAnswer)
	send(t, m, model.Request{Blob: conversation.Blob, Messages: []protocol.Message{
		protocol.UserText("go"), foreign(protocol.ToolUse("a", "Read", nil)), result("a", "seen", image),
		foreign(protocol.ToolUse("b", "Read", nil)), result("b", "seen", image)}})
	list := sent(t, server, 0).Contents
	if len(list) != 7 || !bytes.Contains(list[3], []byte("inlineData")) || !bytes.Contains(list[6], []byte("inlineData")) {
		t.Error(contents(t, server, 0))
	}
}

// TestAnswersOfAnyFormCanBeSentBack plays answers and sends each back in the turn
// that it belongs to, where the vendor looks at signatures.
func TestAnswersOfAnyFormCanBeSentBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var steps []string
		for range rapid.IntRange(1, 4).Draw(r, "steps") {
			steps = append(steps, rapid.SampledFrom([]string{`{"text":"I <look>"}`, `{"thinking":"hm"}`, `{"call":"Read","input":{"path":"<x>","n":12345678901}}`}).Draw(r, "step"))
		}
		lines := `{"again":true,"do":[` + strings.Join(steps, ",") + `]}`
		m, server := inMemory(t, named(rapid.SampledFrom([]string{"gemini-3-test", "gemini-2.5-pro"}).Draw(r, "model")), lines)
		req := modeltest.Ask("go")
		for range 3 {
			a, err := modeltest.Collect(m.Stream(context.Background(), req))
			if err != nil {
				got := server.Requests()
				r.Fatalf("%v\n%s", err, got[len(got)-1].Body)
			}
			msg := a.Message(m.Info())
			req.Messages = append(req.Messages, msg)
			for _, c := range msg.Calls() {
				req.Messages = append(req.Messages, result(c.ID, "x"))
			}
			if len(msg.Calls()) == 0 {
				req.Messages = append(req.Messages, protocol.UserText("go on"))
			}
		}
	})
}
