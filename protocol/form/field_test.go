package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const schema = `{"type":"object","properties":{
	"mail":{"type":"string","format":"email","title":"Address"},
	"name":{"type":"string","minLength":2,"maxLength":4,"description":"yours"},
	"age":{"type":"integer","minimum":1,"maximum":150,"default":30},
	"part":{"type":"number"},
	"sure":{"type":"boolean"},
	"colour":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
	"days":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["mo","tu","we"]}},
	"when":{"type":"string","format":"date"},
	"day":{"type":"string"}},
	"required":["mail","days","day"]}`

func TestAFormIsReadInTheOrderOfItsSchema(t *testing.T) {
	fields, err := Fields(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fields {
		got = append(got, fmt.Sprint(f.Name, " ", f.Type, " ", f.Required))
	}
	want := "mail text true, name text false, age integer false, part number false, sure boolean false, colour choice false, size choice false, days choices true, when text false, day text true"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s", s)
	}
	if fields[0].Title != "Address" || fields[1].Title != "name" || fields[5].Options[1] != (Option{"g", "Green"}) || fields[6].Options[0] != (Option{"s", "Small"}) || string(fields[2].Default) != "30" {
		t.Errorf("%+v", fields)
	}
	for line, want := range map[string]string{
		"0 a@b.c": `"a@b.c"`, "0 nobody": "!an email address", "0 ": "!must be given", "9 ": "!must be given", "9 x": `"x"`, "1 abc": `"abc"`, "1 a": "!at least 2", "1 abcde": "!at most 4", "1 ": "",
		"1 äöü": `"äöü"`, "2 ": "30", "2 7": "7", "2 7.5": "!whole number", "2 x": "!number", "2 200": "!at most 150", "2 1 2": "!number", "2 null": "!whole number", "3 7.5": "7.5",
		"4 y": "true", "4 No": "false", "4 perhaps": "!yes or no", "5 Green": `"g"`, "5 1": `"r"`, "5 b": "!no option", "6 s": `"s"`, "7 mo, 3": `["mo","we"]`,
		"7 mo,mo": "!each once", "7 mo,tu,we": "!at most 2", "7 ": "!must be given", "8 2026-01-31": `"2026-01-31"`, "8 tomorrow": "!a date",
	} {
		n := line[0] - '0'
		value, err := fields[n].Read(line[2:])
		switch wrong, fails := strings.CutPrefix(want, "!"); {
		case fails && (err == nil || !strings.Contains(err.Error(), wrong)):
			t.Errorf("%q: %s %v", line, value, err)
		case !fails && (err != nil || string(value) != want):
			t.Errorf("%q: %s %v", line, value, err)
		}
	}
}

func TestTheHintOfAFieldSaysItsBounds(t *testing.T) {
	fields, err := Fields(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		0: "an email address", 1: "a line of 2 to 4 characters; an empty line leaves it out", 2: "a whole number from 1 to 150; an empty line is 30",
		3: "a number; an empty line leaves it out", 7: "numbers or options, with commas, 1 to 2 of them", 9: "a line",
	} {
		if got := fields[n].Hint(); got != want {
			t.Errorf("%s: %q, want %q", fields[n].Name, got, want)
		}
	}
	least := 3.0
	if got := (&Field{Type: Number, Required: true, Least: &least}).Hint(); got != "a number of at least 3" {
		t.Errorf("%q", got)
	}
}
