package protocol

import (
	"errors"
	"strings"
	"testing"
)

// TestACallWithAFieldThatIsNotKnownIsRefused: the error is one for who misspelt it, and for
// a client that is newer than its host.
func TestACallWithAFieldThatIsNotKnownIsRefused(t *testing.T) {
	const head = `"requestId":"req_00000000000000000000000000","sessionId":"ses_00000000000000000000000000"`
	for _, test := range []struct{ fields, field, says string }{
		{`"type":"send_message","content":[{"type":"text","text":"x"}],"repeat":true`, "", ""},
		{`"type":"list_sessions"`, "", ""}, // a session that is named does not count
		{`"type":"answer_ui","uiId":"ui_x","value":{"any":{"thing":1}}`, "", ""},
		{`"type":"send_message","content":[],"option":{}`, "option", "field \"option\" of send_message; it knows content, whenBusy, expectedLeafId, options, type,"},
		{`"type":"send_message","content":[],"options":{"mod":"x"}`, "options.mod", `field "mod" of options; it knows model, thinking, mode,`},
		{`"type":"send_message","content":[],"options":{"nonetwork":true}`, "options.nonetwork", "noNetwork"},
		{`"type":"send_message","content":[{"type":"text","text":"x"},{"type":"text","txt":"x"}]`, "content[1].txt", "it knows type, text, name, mediaType, blob."},
		{`"type":"send_message","content":[{"type":"text","signature":"x"}]`, "content[0].signature", "content[0]"},
		{`"type":"rewrite_queue","queue":"steer","items":[{"content":[{"type":"file","x":1}]}]`, "items[0].content[0].x", "items[0].content[0]"},
		{`"type":"ping","Type":"ping"`, "Type", `"Type" of ping; it knows type, requestId, sessionId, repeat.`},
		{`"type":"ping","` + strings.Repeat("x", 500) + `":1`, strings.Repeat("x", MaxWord), "of ping"},
		{`"type":"open_session","anchors":{"deviceId":"d","streamEpoch":"","streamLastSeq":"7","persistentLastSeq":0}`, "anchors.streamLastSeq", "it is a text and should be a whole number"},
		{`"type":"send_message","content":[{"type":"text","text":"x"},7]`, "content[1]", "it is a number and should be an object"},
		{`"type":"send_message","content":[{"type":"text","text":7}]`, "content[0].text", "it is a number and should be a text"},
		{`"type":"send_message","content":[],"options":{"allow":["x",1]}`, "options.allow[1]", "should be a text"},
		{`"type":"send_message","content":[{"type":"text","text":"x"}],"whenBusy":"reject","options":{"maxSteps":-1}`, "options.maxSteps", "The field options.maxSteps is -1"},
		{`"type":"update_info","changes":{"name":"a\nb"}`, "changes.name", "The field changes.name holds"},
		{`"type":"open_session","tail":2001`, "tail", "from 0 to 2000"},
		{`"type":"open_session","tail":-1`, "tail", "from 0 to 2000"},
	} {
		call, err := ParseCall([]byte("{" + test.fields + "," + head + "}"))
		if err == nil {
			if p := call.Check(); p != nil {
				err = p.Err()
			}
		}
		var e *Error
		switch {
		case test.says == "" && err != nil:
			t.Errorf("%s: %v", test.fields, err)
		case test.says != "" && (!errors.As(err, &e) || e.Code != CodeInvalidRequest || AboutOf(err).Field != test.field || !strings.Contains(e.Message, test.says)):
			t.Errorf("%s: %v about %q, not %q with %q", test.fields, err, AboutOf(err).Field, test.field, test.says)
		}
	}
}
