package serve

import (
	"encoding/json"
	"testing"

	"scorel/protocol"
)

func TestAClientThatProvesTheTokenCallsAndGetsFrames(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	id := p.session(w)
	p.send(id, &protocol.OpenSession{Tail: 10})
	p.send(id, &protocol.SendMessage{Content: []protocol.Block{{Type: protocol.BlockText, Text: "Hi"}}})
	var text string
	var types []string
	for text != "Hello." {
		var m struct {
			Type   string
			Events []json.RawMessage
		}
		p.read(&m)
		types = append(types, m.Type)
		for _, raw := range m.Events {
			e, err := protocol.ParseEvent(raw)
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleAssistant {
				text = b.Message.Content[0].Text
			}
		}
	}
	t.Log(types)
}
