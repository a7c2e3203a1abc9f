package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"scorel/protocol/form"
)

const formSchema = `{"type":"object","properties":{
	"mail":{"type":"string","format":"email","title":"Address"},
	"name":{"type":"string","minLength":2,"maxLength":4,"description":"yours"},
	"age":{"type":"integer","minimum":1,"maximum":150,"default":30},
	"part":{"type":"number"},
	"sure":{"type":"boolean"},
	"colour":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
	"days":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["mo","tu","we"]}},
	"when":{"type":"string","format":"date"}},
	"required":["mail","days"]}`

func TestFormsAndAddressesThatCannotBeShownAreRefused(t *testing.T) {
	many := `{"type":"object","properties":{`
	for i := range form.MaxFields + 1 {
		many += fmt.Sprintf(`"f%d":{"type":"string"},`, i)
	}
	many = strings.TrimSuffix(many, ",") + "}}"
	for _, schema := range []string{"", "null", "[]", `{}`, `{"type":"object"}`, `{"type":"object","properties":{}}`, `{"type":"object","properties":[]}`, many,
		`{"type":"object","properties":{"a":{"type":"object"}}}`, `{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
		`{"type":"object","properties":{"a":7}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"string"}}}`,
		`{"type":"object","properties":{"":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`,
		`{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("x", form.MaxSchema) + `"}}}`} {
		d := Dialog{Kind: DialogForm, Schema: json.RawMessage(schema)}
		if err := d.CheckAsked(); err == nil {
			t.Errorf("%.80s is shown", schema)
		}
	}
	for address, ok := range map[string]bool{"https://example.com/a?b=c": true, "http://127.0.0.1:8080/": true, "": false, "example.com": false, "javascript:alert(1)": false,
		"file:///etc/passwd": false, "https://u:p@example.com": false, "https://": false, "https://example.com/\x1b[2J": false, "https://example.com/" + strings.Repeat("x", MaxURL): false} {
		d := Dialog{Kind: DialogURL, URL: address}
		if err := d.CheckAsked(); (err == nil) != ok {
			t.Errorf("%.60q: %v", address, err)
		}
	}
}

func TestAnAnswerToAFormFitsIt(t *testing.T) {
	d := Dialog{Kind: DialogForm, Schema: json.RawMessage(formSchema)}
	if err := d.CheckAsked(); err != nil {
		t.Fatal(err)
	}
	for value, ok := range map[string]bool{`{"mail":"a@b.c","days":["mo"]}`: true, "null": true, "false": true, "true": false, `{}`: false, `[]`: false, `"x"`: false,
		`{"mail":"a@b.c","days":["mo"],"age":7,"sure":true}`: true, `{"mail":"a@b.c","days":["mo"],"other":1}`: false, `{"mail":"a@b.c","days":[]}`: false, `{"mail":null,"days":["mo"]}`: false} {
		if err := d.Check(json.RawMessage(value)); (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
	if err := d.Check(json.RawMessage(`{"mail":"a@b.c","days":["mo"],"age":700}`)); AboutOf(err).Field != "value.age" {
		t.Errorf("%+v", err)
	}
	u := Dialog{Kind: DialogURL, URL: "https://example.com"}
	for value, ok := range map[string]bool{"true": true, "false": true, "null": true, `"yes"`: false, "{}": false} {
		if err := u.Check(json.RawMessage(value)); (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
}
