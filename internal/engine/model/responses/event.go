package responses

import (
	"encoding/json"
	"errors"

	"scorel/internal/engine/model/httpx"
)

// event is one of a stream, with the fields that are read
// (https://developers.openai.com/api/reference/resources/responses/streaming-events).
type event struct {
	Type         string    `json:"type"`
	OutputIndex  int       `json:"output_index"`
	ContentIndex int       `json:"content_index"`
	SummaryIndex int       `json:"summary_index"`
	ItemID       string    `json:"item_id"`
	Delta        string    `json:"delta"`
	Arguments    string    `json:"arguments"`
	Item         *answer   `json:"item"`
	Response     *response `json:"response"`

	raw []byte // the whole event, for errors
}

// answer is an item of an answer.
type answer struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Phase     string `json:"phase"`
	Status    string `json:"status"`
	Content   []said `json:"content"`
	Summary   []said `json:"summary"`
	Sealed    string `json:"encrypted_content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// said is a part of a message, of a summary or of reasoning.
type said struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// response is the answer as its end event tells it.
type response struct {
	Output     []answer        `json:"output"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *usage `json:"usage"`
}

type usage struct {
	Input        httpx.Int `json:"input_tokens"`
	Output       httpx.Int `json:"output_tokens"`
	InputDetails struct {
		Cached  httpx.Int `json:"cached_tokens"`
		Written httpx.Int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning httpx.Int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// decode reads an event. One that is not read here may have fields of any form.
func decode(data []byte) (*event, error) {
	e := &event{raw: data}
	err := json.Unmarshal(data, e)
	var form *json.UnmarshalTypeError
	if errors.As(err, &form) && !read(e.Type) {
		return e, nil
	}
	return e, err
}

// read reports whether the reader looks into events of the type. Of "error" it takes
// the bytes alone.
func read(kind string) bool {
	switch kind {
	case "response.output_item.added", "response.output_item.done",
		"response.output_text.delta", "response.refusal.delta",
		"response.reasoning_summary_text.delta", "response.reasoning_text.delta",
		"response.function_call_arguments.delta", "response.function_call_arguments.done",
		"response.completed", "response.incomplete", "response.failed":
		return true
	}
	return false
}
