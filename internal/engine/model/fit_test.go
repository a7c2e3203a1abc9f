package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
)

func anthropicInfo() Info {
	return Info{Provider: "anthropic", ID: "claude", API: APIAnthropic, Images: true, PDF: true}
}

func openaiInfo() Info { return Info{Provider: "openai", ID: "gpt", API: APIOpenAI} }

func googleInfo() Info { return Info{Provider: "google", ID: "gemini", API: APIGoogle, Images: true} }

// by signs a block as the model of info does.
func by(info Info, b protocol.Block) protocol.Block {
	b.Provider = GoogleData{ThoughtSignature: "s"}.Block(info)
	return b
}

func responsesInfo() Info { return Info{Provider: "openai", ID: "gpt", API: APIResponses} }

// from returns a block data of a provider.
func from(b protocol.Block, api API, id string) protocol.Block {
	b.Provider = &protocol.ProviderData{API: string(api), Model: id, Data: json.RawMessage(`{"id":"x"}`)}
	return b
}

// show writes messages in short: role and blocks.
func show(list []protocol.Message) string {
	var out []string
	for _, m := range list {
		s := string(m.Role)
		if m.ToolCallID != "" {
			s += " " + m.ToolCallID
		}
		for _, b := range m.Content {
			switch b.Type {
			case protocol.BlockText:
				s += " " + b.Text
			case protocol.BlockThinking:
				s += " think:" + b.Thinking
			case protocol.BlockToolUse:
				s += " call:" + b.ID + string(b.Input)
			default:
				s += " " + string(b.Type)
			}
			if sign := GoogleDataOf(b).ThoughtSignature; sign != "" {
				s += "[" + sign + "]"
			} else if b.Provider != nil {
				s += "*"
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func assistantBy(provider, id string, blocks ...protocol.Block) protocol.Message {
	return protocol.Message{Role: protocol.RoleAssistant, Provider: provider, Model: id, Content: blocks}
}

func result(id string, blocks ...protocol.Block) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, Content: blocks}
}

func thought(text, signature string) protocol.Block {
	return protocol.Block{Type: protocol.BlockThinking, Thinking: text, Signature: signature}
}

func TestFit(t *testing.T) {
	text, user := protocol.Text, protocol.UserText
	reasoning := openaiInfo()
	reasoning.Compat.ReasoningContent = true
	strict := openaiInfo()
	strict.Compat.Alternate = true
	tests := []struct {
		name string
		info Info
		in   []protocol.Message
		want string
	}{
		{"empty texts go", anthropicInfo(), []protocol.Message{{Role: protocol.RoleUser, Content: []protocol.Block{text(""), text(" \n"), text("a")}}}, "user a"},
		{"an empty message says so", openaiInfo(), []protocol.Message{{Role: protocol.RoleUser}}, "user (empty)"},
		{"an empty result says so", openaiInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt", protocol.ToolUse("c", "Read", nil)), result("c")},
			"user a | assistant call:c{} | tool_result c (no output)"},
		{"internal messages go", openaiInfo(), []protocol.Message{user("a"), {Role: protocol.RoleInternal, Content: []protocol.Block{text("x")}}}, "user a"},
		{"own signed thinking stays", anthropicInfo(), []protocol.Message{user("a"), assistantBy("anthropic", "claude", thought("hm", "s"), text("b")), user("c")},
			"user a | assistant think:hm b | user c"},
		{"unsigned thinking goes", anthropicInfo(), []protocol.Message{user("a"), assistantBy("anthropic", "claude", thought("hm", ""), text("b")), user("c")},
			"user a | assistant b | user c"},
		{"thinking of another model goes", anthropicInfo(), []protocol.Message{user("a"), assistantBy("anthropic", "claude-2", thought("hm", "s"), text("b")), user("c")},
			"user a | assistant b | user c"},
		{"thinking of another provider goes", anthropicInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt", thought("hm", "s"), text("b")), user("c")},
			"user a | assistant b | user c"},
		{"Google's signatures stay on their blocks", googleInfo(), []protocol.Message{user("a"), assistantBy("google", "gemini", by(googleInfo(), thought("hm", "")), by(googleInfo(), text("b")), by(googleInfo(), protocol.ToolUse("c|1", "R", nil)), protocol.ToolUse("d", "R", nil)), result("c|1"), result("d")},
			"user a | assistant think:hm[s] b[s] call:c_1_feeb37d468dd{}[s] call:d{} | tool_result c_1_feeb37d468dd (no output) | tool_result d (no output)"},
		{"thinking that Google did not sign goes", googleInfo(), []protocol.Message{user("a"), assistantBy("google", "gemini", thought("hm", "s"), text("b")), user("c")},
			"user a | assistant b | user c"},
		{"Google's signatures do not go to another model of its", googleInfo(), []protocol.Message{user("a"), assistantBy("google", "gemini-2", by(Info{ID: "gemini-2"}, text("b")), by(Info{ID: "gemini-2"}, thought("hm", "")), text("b2")), user("c")},
			"user a | assistant b b2 | user c"},
		{"a signature that an alias made goes", googleInfo(), []protocol.Message{user("a"), assistantBy("google", "gemini", by(Info{ID: "gemini-2"}, text("b"))), user("c")},
			"user a | assistant b | user c"},
		{"Google's signatures do not go to others", openaiInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt", by(Info{ID: "gpt"}, text("b")))},
			"user a | assistant b"},
		{"an empty text goes with its signature", googleInfo(), []protocol.Message{user("a"), assistantBy("google", "gemini", by(googleInfo(), text("")), text("b")), user("c")},
			"user a | assistant b | user c"},
		{"assistants in a row are joined for Google", googleInfo(), []protocol.Message{user("a"), assistantBy("google", "gemini", text("b")), assistantBy("x", "y", protocol.ToolUse("c", "R", nil)), result("c", text("d"))},
			"user a | assistant b call:c{} | tool_result c d"},
		{"thinking goes under Chat Completions", openaiInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt", thought("hm", ""), text("b"))},
			"user a | assistant b"},
		{"thinking stays where the server wants it", reasoning, []protocol.Message{user("a"), assistantBy("openai", "gpt", thought("hm", ""), text("b"))},
			"user a | assistant think:hm b"},
		{"own sealed thinking stays, with what is known of its followers", responsesInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt",
			from(thought("", ""), APIResponses, "gpt"), from(text("b"), APIResponses, "gpt"), from(protocol.ToolUse("c", "R", nil), APIResponses, "gpt")), result("c", text("x"))},
			"user a | assistant think:* b* call:c{}* | tool_result c x"},
		{"unsealed thinking goes", responsesInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt", thought("hm", "s"), from(text("b"), APIResponses, "gpt"))},
			"user a | assistant b*"},
		{"sealed thinking of another model goes", responsesInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt-2", from(thought("hm", ""), APIResponses, "gpt-2"), from(text("b"), APIResponses, "gpt-2"))},
			"user a | assistant b"},
		{"sealed thinking behind another API goes", responsesInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt", from(thought("hm", ""), APIOpenAI, "gpt"), from(text("b"), APIOpenAI, "gpt"))},
			"user a | assistant b"},
		{"provider data of texts goes where nothing pairs it", openaiInfo(), []protocol.Message{user("a"), assistantBy("openai", "gpt", from(text("b"), APIOpenAI, "gpt"))},
			"user a | assistant b"},
		{"thinking that nothing follows goes", anthropicInfo(), []protocol.Message{user("a"), assistantBy("anthropic", "claude", text("b"), thought("hm", "s")), user("c")},
			"user a | assistant b | user c"},
		{"a message of thinking alone goes, its neighbours are joined", anthropicInfo(), []protocol.Message{user("a"), assistantBy("anthropic", "claude", thought("hm", "s")), user("c")},
			"user a c"},
		{"neighbours stay apart where they may", openaiInfo(), []protocol.Message{user("a"), user("b")}, "user a | user b"},
		{"neighbours are joined where they must", strict, []protocol.Message{user("a"), user("b")}, "user a b"},
		{"the first message is a user's", anthropicInfo(), []protocol.Message{assistantBy("x", "y", text("b")), user("c")},
			"user (The conversation starts with what the assistant said.) | assistant b | user c"},
		{"the last message is not the assistant's", anthropicInfo(), []protocol.Message{user("a"), assistantBy("x", "y", text("b"))},
			"user a | assistant b | user (Continue.)"},
		{"images become notes", openaiInfo(), []protocol.Message{{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockImage, MediaType: "image/png"}}}},
			"user [image image/png not shown to this model]"},
		{"images stay", anthropicInfo(), []protocol.Message{{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockImage, MediaType: "image/png"}}}}, "user image"},
		{"PDFs become notes", openaiInfo(), []protocol.Message{{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockFile, Name: "a.pdf", MediaType: "application/pdf"}}}},
			"user [file a.pdf (application/pdf) not shown to this model]"},
		{"text files stay", openaiInfo(), []protocol.Message{{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockFile, MediaType: "text/plain; charset=utf-8"}}}}, "user file"},
		{"a result without call goes", openaiInfo(), []protocol.Message{user("a"), result("c", text("x"))}, "user a"},
		{"a result behind a user message has no call", openaiInfo(), []protocol.Message{assistantBy("x", "y", protocol.ToolUse("c", "R", nil)), user("a"), result("c", text("x"))},
			"assistant call:c{} | user a"},
		{"input that is not an object", openaiInfo(), []protocol.Message{assistantBy("x", "y", protocol.ToolUse("c", "R", json.RawMessage(`[1]`))), result("c", text("x"))},
			"assistant call:c{} | tool_result c x"},
		{"the same id twice", openaiInfo(), []protocol.Message{
			assistantBy("x", "y", protocol.ToolUse("c", "R", nil)), result("c", text("1")),
			assistantBy("x", "y", protocol.ToolUse("c", "R", nil)), result("c", text("2"))},
			"assistant call:c{} | tool_result c 1 | assistant call:c_ec49f17f2c20{} | tool_result c_ec49f17f2c20 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := show(Fit(tt.in, tt.info)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestIdsBecomeValidInCallAndResult(t *testing.T) {
	for _, id := range []string{"call_1|fc_2+/=", strings.Repeat("x", 450), "", "äöü", strings.Repeat("y", 41)} {
		for _, info := range []Info{anthropicInfo(), openaiInfo(), responsesInfo(), googleInfo()} {
			in := []protocol.Message{protocol.UserText("a"), assistantBy("x", "y", protocol.ToolUse(id, "R", nil)), result(id, protocol.Text("z"))}
			out := Fit(in, info)
			got := out[1].Content[0].ID
			most := 64
			if info.API == APIOpenAI {
				most = 40
			}
			if got == "" || len(got) > most || strings.IndexFunc(got, badInID) >= 0 || out[2].ToolCallID != got {
				t.Errorf("%s: %q became %q and %q", info.API, id, got, out[2].ToolCallID)
			}
		}
	}
}

func TestFitOfALongerConversationBeginsTheSame(t *testing.T) {
	var list []protocol.Message
	for i := range 12 {
		id := fmt.Sprintf("call|%d", i%3) // repeats
		list = append(list, protocol.UserText("a"), assistantBy("x", "y", protocol.ToolUse(id, "R", nil)), result(id, protocol.Text("z")))
	}
	whole := Fit(list, anthropicInfo())
	for n := 1; n < len(list); n++ {
		if list[n-1].Role == protocol.RoleAssistant {
			continue // a request never ends on calls
		}
		if got := show(Fit(list[:n], anthropicInfo())); !strings.HasPrefix(show(whole), got) {
			t.Fatalf("%d messages: %s", n, got)
		}
	}
}

func TestLevelIsTheNearestThatTheModelHas(t *testing.T) {
	info := Info{Thinking: []ThinkingLevel{ThinkingLow, ThinkingHigh}}
	for want, level := range map[ThinkingLevel]ThinkingLevel{
		"": ThinkingOff, ThinkingOff: ThinkingOff, ThinkingMinimal: ThinkingLow, ThinkingLow: ThinkingLow,
		ThinkingMedium: ThinkingLow, ThinkingHigh: ThinkingHigh, ThinkingMax: ThinkingHigh,
	} {
		if got := info.Level(want); got != level {
			t.Errorf("%q became %q, want %q", want, got, level)
		}
	}
	if got := (Info{}).Level(ThinkingHigh); got != ThinkingOff {
		t.Errorf("a model without levels: %q", got)
	}
	for _, l := range ThinkingLevels() {
		if !l.Valid() {
			t.Errorf("%q is not valid", l)
		}
	}
	if ThinkingLevel("huge").Valid() {
		t.Error("huge is valid")
	}
}

func TestEstimates(t *testing.T) {
	if n := EstimateText("12345678ä"); n != 3 {
		t.Errorf("text: %d", n)
	}
	m := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("12345678"), {Type: protocol.BlockImage}}}
	if n := EstimateTokens(m); n != 4+2+1200 {
		t.Errorf("message: %d", n)
	}
	m.Role = protocol.RoleInternal
	if n := EstimateTokens(m); n != 0 {
		t.Errorf("internal: %d", n)
	}
	req := Request{System: "1234", Tools: []ToolSpec{{Name: "Read", Description: "reads", Schema: json.RawMessage("{}")}}, Messages: []protocol.Message{protocol.UserText("1234")}}
	if n := EstimateRequest(req); n != 1+1+2+1+5 {
		t.Errorf("request: %d", n)
	}
}

func TestCostIsPerMillion(t *testing.T) {
	p := Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}
	u := protocol.Usage{InputTokens: 1e6, OutputTokens: 1e6, CacheReadTokens: 1e6, CacheWriteTokens: 1e6}
	if got := p.Cost(u); got != 22.05 {
		t.Error(got)
	}
}

func BenchmarkFit(b *testing.B) {
	var list []protocol.Message
	for i := range 500 {
		id := fmt.Sprintf("call_%d", i)
		list = append(list, protocol.UserText("please look"), assistantBy("x", "y", protocol.Text("I look"), protocol.ToolUse(id, "R", json.RawMessage(`{"path":"a"}`))), result(id, protocol.Text("found")))
	}
	info := anthropicInfo()
	b.ReportAllocs()
	for b.Loop() {
		Fit(list, info)
	}
}
