package responses

import (
	"reflect"
	"testing"
)

func TestEventsAreDecodedWithAllThatIsReadOfThem(t *testing.T) {
	usage := usage{Input: 12, Output: 5}
	usage.InputDetails.Cached, usage.InputDetails.Written, usage.OutputDetails.Reasoning = 3, 2, 1
	incomplete := response{Output: []answer{}}
	incomplete.Incomplete.Reason = "max_output_tokens"
	for text, want := range map[string]event{
		`{"delta":"a \"word\" \u00e9\ud83d\ude00","item_id":"msg_1","content_index":1,"logprobs":[],"output_index":2,"sequence_number":11,"type":"response.output_text.delta"}`: {
			Type: "response.output_text.delta", OutputIndex: 2, ContentIndex: 1, ItemID: "msg_1", Delta: "a \"word\" é😀"},
		`{"type":"response.refusal.delta","output_index":2,"content_index":1,"delta":"no","item_id":"msg_1","sequence_number":3}`: {
			Type: "response.refusal.delta", OutputIndex: 2, ContentIndex: 1, ItemID: "msg_1", Delta: "no"},
		`{"type":"response.reasoning_text.delta","output_index":2,"content_index":1,"delta":"hm","item_id":"rs_1","new_field":[1]}`: {
			Type: "response.reasoning_text.delta", OutputIndex: 2, ContentIndex: 1, ItemID: "rs_1", Delta: "hm"},
		`{"delta":"hm","item_id":"rs_1","output_index":1,"sequence_number":4,"summary_index":3,"type":"response.reasoning_summary_text.delta"}`: {
			Type: "response.reasoning_summary_text.delta", OutputIndex: 1, SummaryIndex: 3, ItemID: "rs_1", Delta: "hm"},
		`{"arguments":"{\"path\":\"a\"}","item_id":"fc_1","name":"Read","output_index":2,"sequence_number":19,"type":"response.function_call_arguments.done"}`: {
			Type: "response.function_call_arguments.done", OutputIndex: 2, ItemID: "fc_1", Arguments: `{"path":"a"}`},
		`{"item":{"encrypted_content":"gAAA","id":"rs_1","summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"},"output_index":0,"type":"response.output_item.done"}`: {
			Type: "response.output_item.done", Item: &answer{Type: "reasoning", ID: "rs_1", Sealed: "gAAA", Summary: []said{{Type: "summary_text", Text: "hm"}}}},
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","phase":"commentary","status":"completed","content":[{"type":"refusal","refusal":"no"},{"type":"output_text","text":"a","annotations":[],"logprobs":[]}]}}`: {
			Type: "response.output_item.done", OutputIndex: 1, Item: &answer{Type: "message", ID: "msg_1", Phase: "commentary", Status: "completed",
				Content: []said{{Type: "refusal", Refusal: "no"}, {Type: "output_text", Text: "a"}}}},
		`{"item":{"arguments":"{}","call_id":"c1","id":"fc_1","name":"Read","status":"in_progress","type":"function_call"},"output_index":2,"type":"response.output_item.added"}`: {
			Type: "response.output_item.added", OutputIndex: 2, Item: &answer{Type: "function_call", ID: "fc_1", CallID: "c1", Name: "Read", Status: "in_progress", Arguments: "{}"}},
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`: {
			Type: "response.incomplete", Response: &incomplete},
		`{"type":"response.completed","response":{"incomplete_details":null,"output":[{"type":"reasoning","id":"rs_1"}],"usage":{"input_tokens":"12","input_tokens_details":{"cached_tokens":3.0,"cache_write_tokens":2},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":17}}}`: {
			Type: "response.completed", Response: &response{Output: []answer{{Type: "reasoning", ID: "rs_1"}}, Usage: &usage}},
	} {
		got, err := decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got.raw = nil; !reflect.DeepEqual(*got, want) {
			t.Errorf("%s\ngives %+v\nwant  %+v", text, *got, want)
		}
	}
}

func TestAnEventThatIsNotReadMayHaveAnyForm(t *testing.T) {
	if e, err := decode([]byte(`{"type":"response.new.delta","delta":{"a":1},"output_index":"x"}`)); err != nil || e.Type != "response.new.delta" {
		t.Errorf("%+v, %v", e, err)
	}
	for _, text := range []string{`{"type":"response.output_text.delta","delta":{"a":1}}`, `{"type":"response.new`} {
		if _, err := decode([]byte(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
