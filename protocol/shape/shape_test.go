package shape

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

type point struct {
	X    int      `json:"x"`
	Tags []string `json:"tags,omitempty"`
	Near *point   `json:"near,omitempty"`
}

func TestWhatIsWrongWithAnObjectIsSaidWithItsField(t *testing.T) {
	top := Names(&point{})
	if want := []string{"x", "tags", "near"}; !slices.Equal(top, want) {
		t.Errorf("the members are %q", top)
	}
	for _, c := range []struct{ data, field, text string }{
		{`{"x":1,"near":{"x":2}}`, "", ""},
		{`{"x":1,"y":2}`, "y", `This host does not know the field "y" of point; it knows x, tags, near.`},
		{`{"x":1,"near":{"y":2}}`, "near.y", `This host does not know the field "y" of near; it knows x, tags, near.`},
		{`{"x":1,"tags":[],"\u0078":2}`, "x", "The field x is there twice; send it once."},
		{`{"x":1,"near":{"x":1,"x":2}}`, "near.x", "The field near.x is there twice; send it once."},
		{`{"tags":[]}`, "x", "point needs the field x."},
		{`{"x":null}`, "x", "The field x of point is null; it needs a value."},
		{`{"x":1,"tags":["a",2]}`, "tags[1]", "The field tags[1] of the point does not fit: it is a number and should be a text."},
		{`{"x":"1"}`, "x", "The field x of the point does not fit: it is a text and should be a whole number."},
		{`{"x":`, "", "The point is not valid JSON: it ends too early."},
		{`[]`, "", "The point is not a JSON object."},
	} {
		data, v := []byte(c.data), &point{}
		var got *Fault
		if err := json.Unmarshal(data, v); err != nil {
			got = Misfit(err, "point", data, v)
		} else if got = Unknown("point", data, v, top); got == nil {
			got = Lacks("point", data, v)
		}
		want := &Fault{c.field, c.text}
		if c.text == "" {
			want = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", c.data, got, want)
		}
	}
}
