package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestMembersOfAnObjectInOrder(t *testing.T) {
	data := []byte(` {"a" : 1 , "b\u0063":"x\"}", "a":[{"y":"]"}],"":null }` + "\n")
	var names, values []string
	m := NewMembers(data)
	for m.Next() {
		name, err := m.Name()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data[m.At:], m.Value) {
			t.Errorf("the value of %s is not at %d", name, m.At)
		}
		names, values = append(names, string(name)), append(values, string(m.Value))
	}
	if m.Err() != nil || m.Next() {
		t.Fatal("after the last member:", m.Err())
	}
	if want := []string{"a", "bc", "a", ""}; !reflect.DeepEqual(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if want := []string{"1", `"x\"}"`, `[{"y":"]"}]`, "null"}; !reflect.DeepEqual(values, want) {
		t.Errorf("values %q, want %q", values, want)
	}
}

func TestMembersOfWhatIsNoObject(t *testing.T) {
	for data, want := range map[string]error{
		"": errNotObject, "[]": errNotObject, "{": errTruncated, `{"a":1`: errTruncated, `{"a":1} x`: errTrailing, `{a:1}`: ErrSyntax,
		`{"a" 1}`: ErrSyntax, `{"a":1;}`: ErrSyntax, `{"a":[}}`: ErrSyntax, `{"a":"`: errTruncated, `{"a":1,}`: ErrSyntax,
	} {
		m := NewMembers([]byte(data))
		for m.Next() {
		}
		if m.Err() != want {
			t.Errorf("%s: %v, want %v", data, m.Err(), want)
		}
	}
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	if _, err := Value([]byte(deep), 0); err == nil {
		t.Error("JSON that is too deep was read")
	}
}

// FuzzReading reads data in each way and compares with encoding/json.
func FuzzReading(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[true,null,{"c":"\u00e9\ud83d\ude00"}]}`, `[1,-2.5e3,"x"]`, `"\ud800"`, `{"a":tru}`, `{"a":01}`, "{\"a\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := NewParser(bytes.Clone(data), nil)
		if read := p.Skip() && p.Ended(); read && !json.Valid(data) {
			t.Fatal("the parser took what is not JSON")
		} else if !read && json.Valid(data) && depth(data) < MaxDepth {
			t.Fatal("the parser refused JSON")
		}
		if !json.Valid(data) {
			return
		}
		var object map[string]json.RawMessage
		if !IsObject(data) || json.Unmarshal(data, &object) != nil || depth(data) >= MaxDepth-100 {
			return
		}
		got := map[string]string{}
		Fields(data, func(key, value []byte) { got[string(key)] = string(value) })
		want := map[string]string{}
		for key, value := range object {
			want[key] = string(value)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("members %q, want %q", got, want)
		}
	})
}

func depth(data []byte) int { return bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{")) }

func TestMemoryKeepsTextsApart(t *testing.T) {
	var memory Memory
	var texts []string
	for i := range 3000 {
		data := []byte(`"` + strings.Repeat(string(rune('a'+i%26)), i*7%6000) + `\n"`)
		p := NewParser(data, &memory)
		s, ok := p.String()
		if !ok {
			t.Fatal("a string was not read")
		}
		for j := range data {
			data[j] = '!' // the memory is used again
		}
		texts = append(texts, s)
	}
	for i, s := range texts {
		if want := strings.Repeat(string(rune('a'+i%26)), i*7%6000) + "\n"; s != want {
			t.Fatalf("text %d changed", i)
		}
	}
}
