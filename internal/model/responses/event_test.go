package responses

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3/responses"

	"scorel/internal/model/modeltest"
	"scorel/internal/model/script"
)

// stream gives the events of an answer of the test server.
func stream(t *testing.T) []string {
	t.Helper()
	s, err := script.Parse(strings.NewReader("{\"script\":1,\"chunk\":4}\n"+
		`{"do":[{"thinking":"hm, hm"},{"text":"a \"word\" é😀"},{"call":"Read","id":"c1","input":{"path":"a"}}],"usage":{"inputTokens":7,"outputTokens":5,"cacheReadTokens":3,"cacheWriteTokens":2,"reasoningTokens":1}}`), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	client := modeltest.Transport(modeltest.Responses(modeltest.Config{Script: s}))
	res, err := client.Post("http://test.invalid/v1/responses", "application/json", strings.NewReader(`{"model":"m","stream":true,"input":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out []string
	var b strings.Builder
	if err := res.Write(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			out = append(out, strings.TrimSpace(data))
		}
	}
	return out
}

func TestEventsAreDecodedAsTheVendorsPackageDecodesThem(t *testing.T) {
	list := append(stream(t),
		`{"type":"response.refusal.delta","output_index":2,"content_index":1,"delta":"no","item_id":"msg_1","sequence_number":3}`,
		`{"type":"response.reasoning_text.delta","output_index":2,"content_index":1,"delta":"hm","item_id":"rs_1","new_field":[1]}`,
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","phase":"commentary","content":[{"type":"refusal","refusal":"no"}]}}`)
	if len(list) < 20 {
		t.Fatalf("%d events", len(list))
	}
	for _, text := range list {
		ours, err := decode([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var theirs sdk.ResponseStreamEventUnion
		if err := json.Unmarshal([]byte(text), &theirs); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if ours.Type != theirs.Type || int64(ours.OutputIndex) != theirs.OutputIndex || int64(ours.ContentIndex) != theirs.ContentIndex ||
			int64(ours.SummaryIndex) != theirs.SummaryIndex || ours.ItemID != theirs.ItemID || ours.Delta != theirs.Delta || ours.Arguments != theirs.Arguments {
			t.Errorf("%s\ngives %+v", text, ours)
		}
		if ours.Item != nil && !reflect.DeepEqual(*ours.Item, theirsItem(theirs.Item)) {
			t.Errorf("%s\ngives %+v\nand by the vendor %+v", text, *ours.Item, theirsItem(theirs.Item))
		}
		if ours.Response == nil {
			continue
		}
		if ours.Response.Incomplete.Reason != theirs.Response.IncompleteDetails.Reason {
			t.Errorf("%s: reason %q", text, ours.Response.Incomplete.Reason)
		}
		for i, it := range theirs.Response.Output {
			if !reflect.DeepEqual(ours.Response.Output[i], theirsItem(it)) {
				t.Errorf("%s\ngives %+v", text, ours.Response.Output[i])
			}
		}
		if u, v := ours.Response.Usage, theirs.Response.Usage; u != nil && (int64(u.Input) != v.InputTokens || int64(u.Output) != v.OutputTokens ||
			int64(u.InputDetails.Cached) != v.InputTokensDetails.CachedTokens || int64(u.InputDetails.Written) != v.InputTokensDetails.CacheWriteTokens ||
			int64(u.OutputDetails.Reasoning) != v.OutputTokensDetails.ReasoningTokens || u.Input != 12) {
			t.Errorf("%s: counts %+v", text, u)
		}
	}
}

// theirsItem is an item as the vendor's package decodes it, in our form.
func theirsItem(it sdk.ResponseOutputItemUnion) answer {
	out := answer{Type: it.Type, ID: it.ID, Phase: string(it.Phase), Status: string(it.Status), Sealed: it.EncryptedContent, CallID: it.CallID, Name: it.Name, Arguments: it.Arguments.OfString}
	switch it := it.AsAny().(type) {
	case sdk.ResponseOutputMessage:
		out.Content = []said{}
		for _, p := range it.Content {
			out.Content = append(out.Content, said{Type: p.Type, Text: p.Text, Refusal: p.Refusal})
		}
	case sdk.ResponseReasoningItem:
		out.Summary = []said{}
		for _, p := range it.Summary {
			out.Summary = append(out.Summary, said{Type: string(p.Type), Text: p.Text})
		}
	case sdk.ResponseFunctionToolCall:
		out.Arguments = it.Arguments
	}
	return out
}

// TestRequestsAreOfTheVendorsForm reads a request with all kinds of items with the
// vendor's package and writes it again: nothing may get lost.
func TestRequestsAreOfTheVendorsForm(t *testing.T) {
	p := request{Model: "m", Store: false, Include: []string{"reasoning.encrypted_content"}, MaxOutputTokens: 16, PromptCacheKey: "k",
		Reasoning: &reasoning{Effort: "high", Summary: "auto"}, Instructions: "s", ParallelToolCalls: true,
		Tools: []tool{{Type: "function", Name: "a", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Input: []item{
			{Type: typeMessage, Role: "user", Content: []part{{Type: partText, Text: "t"}, {Type: "input_image", Detail: "auto", ImageURL: "data:image/png;base64,AAAA"}}},
			{Type: typeReasoning, ID: "rs_1", Summary: &[]part{{Type: "summary_text", Text: "hm"}}, Sealed: "x"},
			{Type: typeMessage, ID: "msg_1", Role: "assistant", Status: "completed", Phase: "commentary", Content: []part{{Type: partOutput, Text: "t", Annotations: &[]struct{}{}}}},
			{Type: typeCall, ID: "fc_1", CallID: "c1", Name: "a", Arguments: "{}"},
			{Type: typeOutput, CallID: "c1", Output: []part{{Type: "input_file", Filename: "a.pdf", FileData: "data:application/pdf;base64,AAAA"}}},
			{Type: typeOutput, CallID: "c2", Output: "x"},
		}}
	ours, err := p.encode()
	if err != nil {
		t.Fatal(err)
	}
	var theirs sdk.ResponseNewParams
	if err := json.Unmarshal(ours, &theirs); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if json.Unmarshal(ours, &want) != nil || json.Unmarshal(again, &got) != nil {
		t.Fatal("no JSON")
	}
	delete(want, "stream") // which the package's method adds
	// Of the two forms of an assistant's message the package takes the first that
	// fits, which has neither id nor status.
	message := want["input"].([]any)[2].(map[string]any)
	delete(message, "id")
	delete(message, "status")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ours\n%s\ntheirs\n%s", ours, again)
	}
}
