package lane

import (
	"context"
	"encoding/json"

	"scorel/protocol"
)

// toldKind is the kind of the custom events that record what people of a session were told of
// a matter that outlives hosts.
const toldKind = protocol.OwnKind + "told"

// toldBefore is the data of such an event.
type toldBefore struct {
	About string `json:"about"`
	Text  string `json:"text"` // "" once there was nothing to tell any more
}

// ToldAnew reports whether a sentence is another than the last that people of this session were
// told about a matter, under whatever host, and records it; "" is that there is none any more.
// No lock of the lane is held by the caller. What cannot be recorded is told again.
func (l *Lane) ToldAnew(ctx context.Context, about, text string) bool {
	last := ""
	for e, err := range l.j.Index().OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return true
		}
		var was toldBefore
		if b, ok := e.Body.(*protocol.Custom); ok && b.Kind == toldKind && json.Unmarshal(b.Data, &was) == nil && was.About == about {
			last = was.Text
		}
	}
	if last == text {
		return false
	}
	data, err := json.Marshal(toldBefore{about, text})
	if err == nil {
		_, err = l.Control(ctx, &protocol.Custom{Kind: toldKind, Data: data})
	}
	if err != nil {
		l.j.Report("record what people were told: " + err.Error())
	}
	return true
}
