package httpx

import (
	"encoding/json"
	"testing"
)

func TestFieldsOfOddFormsAreReadOrPassedOver(t *testing.T) {
	type event struct {
		Text   Text   `json:"text"`
		Int    Int    `json:"int"`
		Strict string `json:"strict"`
		Inner  struct {
			Text Text `json:"text"`
		} `json:"inner"`
		Last string `json:"last"`
	}
	inner := func(text Text) event {
		e := event{Last: "x"}
		e.Inner.Text = text
		return e
	}
	for data, want := range map[string]event{
		`{"text":"a","int":7,"strict":"b","last":"x"}`:             {Text: "a", Int: 7, Strict: "b", Last: "x"},
		`{"text":"a \"b\" \u00e9\n","last":"x"}`:                   {Text: "a \"b\" é\n", Last: "x"},
		`{"text":7,"int":"7","strict":7,"last":"x"}`:               {Text: "7", Int: 7, Last: "x"},
		`{"text":{"a":[1]},"int":7.9,"strict":{"a":1},"last":"x"}`: {Text: `{"a":[1]}`, Int: 7, Last: "x"},
		`{"text":null,"int":null,"strict":null,"last":"x"}`:        {Last: "x"},
		`{"text":true,"int":"many","strict":[1],"last":"x"}`:       {Text: "true", Last: "x"},
		`{"int":1e300,"last":"x"}`:                                 {Last: "x"},
		`{"int":"NaN","inner":"text","last":"x"}`:                  {Last: "x"},
		`{"inner":{"text":[ ]},"more":{"last":1},"last":"x"}`:      inner("[ ]"),
	} {
		var got event
		if err := Decode([]byte(data), &got); err != nil || got != want {
			t.Errorf("%s gives %+v, %v", data, got, err)
		}
	}
	for _, data := range []string{`[]`, `"text"`, `7`, `{"text":`, ``} {
		if err := Decode([]byte(data), &event{}); err == nil {
			t.Errorf("%s was read", data)
		}
	}
}

func FuzzTextIsReadAsAString(f *testing.F) {
	for _, text := range awkward() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{data, []byte(`"` + text + `"`)} {
			var want string
			if json.Unmarshal(data, &want) != nil {
				continue
			}
			var got Text
			if err := json.Unmarshal(data, &got); err != nil || string(got) != want {
				t.Errorf("%s is read as %q, %v", data, got, err)
			}
		}
	})
}

func TestACountIsNeverBelowZero(t *testing.T) {
	for text, want := range map[string]Int{"-5": 0, `"-5"`: 0, "-1e9": 0, "-0.5": 0, "7": 7, `"7"`: 7, "7.9": 7, "1e99": 0, "null": 0, "{}": 0} {
		var n Int
		if err := json.Unmarshal([]byte(text), &n); err != nil || n != want {
			t.Errorf("%s is %d, not %d: %v", text, n, want, err)
		}
	}
}
