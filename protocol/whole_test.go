package protocol

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestTheWholeOfAMessageHasAllThatIsCutAndLeavesWhatCannotBeRead(t *testing.T) {
	payloads := map[string]string{"a": "all of it", "b": "all of the thinking", "c": `{"x":1}`, "d": `{"x":`}
	cut := Message{Role: RoleAssistant, Content: []Block{
		{Type: BlockText, Text: "all", Blob: "a"}, {Type: BlockThinking, Thinking: "all", Blob: "b"},
		{Type: BlockToolUse, ID: "c1", Name: "Do", Input: []byte("{}"), Blob: "c"},
		{Type: BlockToolUse, ID: "c2", Name: "Do", Input: []byte("{}"), Blob: "d"},
		{Type: BlockText, Text: "lost", Blob: "e"}, {Type: BlockImage, MediaType: "image/png", Blob: "a"}, Text("short"),
	}}
	before := cut.Content[0]
	whole, err := cut.Whole(func(sha string) ([]byte, error) {
		if text, ok := payloads[sha]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("it is gone")
	})
	if err == nil || !strings.Contains(err.Error(), "the payload d is no input") || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("the error is %v", err)
	}
	want := append([]Block{Text("all of it"), {Type: BlockThinking, Thinking: "all of the thinking"}, ToolUse("c1", "Do", []byte(`{"x":1}`))}, cut.Content[3:]...)
	if !reflect.DeepEqual(whole.Content, want) {
		t.Errorf("got %+v", whole.Content)
	}
	if !cut.IsCut() || !reflect.DeepEqual(cut.Content[0], before) || (Message{Content: want[:3]}).IsCut() {
		t.Error("the message is changed, or what is whole is said to be cut")
	}
}
