package httpx

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// awkward are texts in which each character is one that JSON writes in its own way.
func awkward() []string {
	return []string{"", "plain", "\"quoted\" \\ back", "a\nb\tc\rd\be\ff\x00\x1f\x7f", "<b> & </b>", "é😀\u2028\u2029\ufffd",
		"broken \xff\xc3 bytes \xe2\x80", "</system-reminder>"}
}

// byEncodingJSON writes a value as encoding/json does.
func byEncodingJSON(t *testing.T, v any, escape bool) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escape)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func TestABodyHasTheBytesThatEncodingJSONWrites(t *testing.T) {
	for _, escape := range []bool{false, true} {
		for _, text := range append(awkward(), strings.Join(awkward(), "")) {
			b := Body{escape: escape}
			b.Object()
			b.Field("text", text)
			b.FieldIf("none", "")
			b.Key("list")
			b.List()
			b.Int(-7)
			b.Bool(true)
			b.List()
			b.EndList()
			b.Object()
			b.EndObject()
			b.Text(text)
			b.EndList()
			b.Key("data")
			b.OpenText()
			b.AddText(text)
			b.AddBase64([]byte(text))
			b.CloseText()
			b.FieldIf("last", "x")
			b.EndObject()
			base, err := json.Marshal([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			want := byEncodingJSON(t, struct {
				Text string `json:"text"`
				List []any  `json:"list"`
				Data string `json:"data"`
				Last string `json:"last"`
			}{text, []any{-7, true, []any{}, struct{}{}, text}, text + strings.Trim(string(base), `"`), "x"}, escape)
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%q is written\n%s\nwant\n%s", text, b.Bytes(), want)
			}
		}
	}
}

func FuzzText(f *testing.F) {
	for _, text := range awkward() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, escape := range []bool{false, true} {
			b := Body{escape: escape}
			b.Text(text)
			if want := byEncodingJSON(t, text, escape); !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%q is written %s, want %s", text, b.Bytes(), want)
			}
		}
	})
}

func FuzzJSONIsWrittenAsItIsWithoutWhiteSpace(f *testing.F) {
	for _, raw := range []string{`{}`, ` { "a b" : [ 1.50 , "c\" d" , "\\" ] , "e" : null } `, "\"<&>\u2028\u2029\xe2\x80\"", "7\n"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return
		}
		for _, escape := range []bool{false, true} {
			b := Body{escape: escape}
			b.Raw([]byte(raw))
			if want := byEncodingJSON(t, json.RawMessage(raw), escape); !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%q is written %s, want %s", raw, b.Bytes(), want)
			}
			b = Body{escape: escape}
			b.OpenText()
			b.AddJSON([]byte(raw))
			b.CloseText()
			var tidy bytes.Buffer
			if err := json.Compact(&tidy, []byte(raw)); err != nil {
				t.Fatal(err)
			}
			if want := byEncodingJSON(t, tidy.String(), escape); !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%q is written as the text %s, want %s", raw, b.Bytes(), want)
			}
		}
	})
}

func TestABodyOfTextsIsWrittenIntoOneBuffer(t *testing.T) {
	text := strings.Repeat("if a < b {\n\treturn \"c\"\n}\n", 1000)
	input, err := json.Marshal(map[string]string{"content": text})
	if err != nil {
		t.Fatal(err)
	}
	messages := []protocol.Message{{Role: protocol.RoleAssistant, Content: []protocol.Block{
		protocol.Text(text), {Type: protocol.BlockThinking, Thinking: text}, protocol.ToolUse("c", "Write", input)}}}
	req := model.Request{System: text, Tools: []model.ToolSpec{{Name: "Write", Description: text, Schema: json.RawMessage(`{}`)}}}
	for _, escape := range []bool{false, true} {
		b := NewBody(req, messages, escape)
		room := cap(b.Bytes())
		b.List()
		for range 4 { // the system prompt, the description, the text and the thinking
			b.Text(text)
		}
		b.Raw(input)
		b.EndList()
		if n := len(b.Bytes()); n > room || room-n > n/4 {
			t.Errorf("room for %d bytes, %d were written", room, n)
		}
	}
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("a line of \"text\"\n", 50_000)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		body := NewBody(model.Request{System: text}, nil, false)
		body.Text(text)
	}
}
