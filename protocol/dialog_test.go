package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestAnswersAreReadInEachOfTheirForms(t *testing.T) {
	questions := []Question{{Question: "one"}, {Question: "several", Multiple: true}}
	for _, c := range []struct {
		json string
		want int // parts; -1: refused
	}{
		{`null`, 0}, {`["a",["b","c"]]`, 3}, {`["",[]]`, 0}, {`[null,"b"]`, 1}, {`[["a"],["b"]]`, 2},
		{`["a"]`, -1}, {`["a","b","c"]`, -1}, {`[["a","b"],[]]`, -1}, {`"a"`, -1}, {`{}`, -1}, {`[1,2]`, -1},
		{`["` + strings.Repeat("x", MaxAnswer) + `",""]`, 1}, {`["` + strings.Repeat("x", MaxAnswer+1) + `",""]`, -1},
		{`["",["1","2","3","4","5","6","7","8","9"]]`, -1},
	} {
		var a Answers
		err := json.Unmarshal([]byte(c.json), &a)
		if err == nil {
			err = a.Check(questions)
		}
		parts := 0
		for _, answer := range a {
			parts += len(answer)
		}
		if (err != nil) != (c.want < 0) || err == nil && parts != c.want {
			t.Errorf("%.60s: %d parts, %v", c.json, parts, err)
		}
	}
}

func TestIDsOfDialogsAreDrawn(t *testing.T) {
	if id := NewUIID(bytes.NewReader(make([]byte, 10))); id != "ui_0000000000000000" {
		t.Error(id)
	}
}

func TestADialogTakesAnswersOfItsKindAlone(t *testing.T) {
	options := []Option{{Label: "a"}, {Label: "b"}}
	long := strings.Repeat("x", MaxAnswer+1)
	for _, c := range []struct {
		kind, value string
		fits        bool
	}{
		{DialogSelect, `"a"`, true}, {DialogSelect, `"c"`, false}, {DialogSelect, `1`, false}, {DialogSelect, `["a"]`, false}, {DialogSelect, `null`, true},
		{DialogConfirm, `true`, true}, {DialogConfirm, `false`, true}, {DialogConfirm, `"yes"`, false}, {DialogConfirm, `null`, true},
		{DialogInput, `""`, true}, {DialogInput, `"a line"`, true}, {DialogInput, `"a\nb"`, false}, {DialogInput, `"` + long + `"`, false}, {DialogInput, `{}`, false},
		{DialogEditor, `"a\nb"`, true}, {DialogEditor, `"` + long + `"`, true}, {DialogEditor, `"` + strings.Repeat("x", MaxEdited+1) + `"`, false}, {DialogEditor, `7`, false},
		{"picture", `"x"`, false}, {"picture", `null`, true}, {DialogSelect, ``, false}, {DialogConfirm, `tru`, false},
	} {
		d := Dialog{Kind: c.kind, Options: options}
		if err := d.Check(json.RawMessage(c.value)); (err == nil) != c.fits {
			t.Errorf("%s %.40s: %v", c.kind, c.value, err)
		}
	}
	for _, d := range []Dialog{{Kind: DialogSelect}, {Kind: DialogQuestion}, {Kind: ""}, {Kind: DialogInput, Title: strings.Repeat("x", MaxEdited+1)},
		{Kind: DialogSelect, Options: make([]Option, maxOptions+1)}} {
		if d.CheckAsked() == nil {
			t.Errorf("%.60v is shown", d)
		}
	}
}
