package mirror

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/rpc"
)

func newEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Config{Cwd: t.TempDir(), Log: func(string, string) {}, Failed: func(what string, err *engine.Error) { t.Errorf("%s: %v", what, err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); <-e.Done() })
	return e
}

// item is what a list should hold: a message of an entry, or another one.
type item struct {
	index int // -1: text is of no entry
	text  string
}

// FuzzListsComeBackAsTheyWereChanged plays changes on a list in JavaScript and on a
// simple model of it.
func FuzzListsComeBackAsTheyWereChanged(f *testing.F) {
	f.Add([]byte{5, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5})
	f.Add([]byte{9, 4, 0, 4, 1, 6, 2, 7, 3, 5, 0, 3, 1})
	f.Add([]byte{1})
	e := newEngine(f)
	store := NewStore()
	view := NewView(e, store.Now)
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) == 0 || len(ops) > 200 {
			return
		}
		n := int(ops[0]) % 12
		var add []json.RawMessage
		var model []item
		for i := range n {
			if i%5 == 4 { // no message
				add = append(add, json.RawMessage(fmt.Sprintf(`{"type":"label_%d","id":"e%d","custom":true,"timestamp":1}`, i, i)))
				continue
			}
			add = append(add, json.RawMessage(fmt.Sprintf(`{"type":"message","id":"e%d","timestamp":1,"message":{"role":"user","content":"m%d"}}`, i, i)))
			model = append(model, item{i, ""})
		}
		if err := store.Apply(0, add); err != nil {
			t.Fatal(err)
		}
		var data rpc.ContextData
		if n > 0 {
			data.List = append(data.List, rpc.ListPart{Run: &[2]int{0, n - 1}})
		}
		data.List = append(data.List, rpc.ListPart{Message: json.RawMessage(`{"role":"user","content":"extra"}`)})
		model = append(model, item{-1, "extra"})
		names := func() (all []string) {
			for _, it := range model {
				if it.index < 0 {
					all = append(all, it.text)
				} else {
					all = append(all, fmt.Sprint(it.index))
				}
			}
			return all
		}
		before := names()

		var script strings.Builder
		script.WriteString("(m) => {\n")
		for i := 1; i+1 < len(ops) && len(model) > 0; i += 2 {
			at := int(ops[i+1]) % len(model)
			switch ops[i] % 8 {
			case 0: // drop
				fmt.Fprintf(&script, "m.splice(%d, 1);\n", at)
				model = append(model[:at:at], model[at+1:]...)
			case 1: // move to the front
				fmt.Fprintf(&script, "m.unshift(...m.splice(%d, 1));\n", at)
				moved := model[at]
				model = append([]item{moved}, append(model[:at:at], model[at+1:]...)...)
			case 2: // write
				fmt.Fprintf(&script, "m[%d].content = \"w%d\";\n", at, i)
				model[at] = item{-1, fmt.Sprintf("w%d", i)}
			case 3: // read
				fmt.Fprintf(&script, "if (typeof m[%d].content !== 'string' || m[%d].role !== 'user') throw new Error('read');\n", at, at)
			case 4: // a new one
				fmt.Fprintf(&script, "m.splice(%d, 0, { role: 'user', content: 'n%d' });\n", at, i)
				model = append(model[:at:at], append([]item{{-1, fmt.Sprintf("n%d", i)}}, model[at:]...)...)
			case 5: // as hooks v2 have it
				if model[at].index >= 0 {
					fmt.Fprintf(&script, "m[%d] = { message: m[%d].message, entryIndex: m[%d].entryIndex };\n", at, at, at)
					fmt.Fprintf(&script, "m[%d] = m[%d].message;\n", at, at)
				}
			case 6: // a copy of the array
				script.WriteString("m = m.slice();\n")
			case 7: // the same value again
				fmt.Fprintf(&script, "m[%d].content = m[%d].content;\n", at, at)
			}
		}
		script.WriteString("return m }")

		want := names()
		for _, form := range []Form{Scorel, Pi} {
			got, err := play(e, view, data, form, script.String())
			if err != nil {
				t.Fatalf("%s: %v\n%s", form, err, script.String())
			}
			have := before
			if got != nil {
				have = nil
			} else {
				got = &rpc.ContextData{}
			}
			for _, p := range got.List {
				if p.Run == nil {
					var m struct{ Content string }
					if err := json.Unmarshal(p.Message, &m); err != nil {
						t.Fatalf("%s: %s", form, p.Message)
					}
					have = append(have, m.Content)
					continue
				}
				for i := p.Run[0]; i <= p.Run[1]; i++ {
					have = append(have, fmt.Sprint(i))
				}
			}
			if fmt.Sprint(have) != fmt.Sprint(want) {
				t.Fatalf("%s: %v, want %v\n%s", form, have, want, script.String())
			}
		}
	})
}

// play runs a script with a list on the engine's loop.
func play(e *engine.Engine, view *View, data rpc.ContextData, form Form, script string) (got *rpc.ContextData, err error) {
	done := make(chan struct{})
	e.Post(func() {
		defer close(done)
		var p *goja.Program
		if p, err = goja.Compile("script.js", script, true); err != nil {
			return
		}
		var v goja.Value
		if v, err = e.Run(p); err != nil {
			return
		}
		f, _ := goja.AssertFunction(v)
		array, listed, lerr := view.List(data, form)
		if err = lerr; err != nil {
			return
		}
		if v, err = e.Call(f, goja.Undefined(), array); err != nil {
			return
		}
		got, err = view.Unlist(v, form, listed)
	})
	<-done
	return got, err
}

func TestAListWithAHoleIsRefused(t *testing.T) {
	e, store := newEngine(t), NewStore()
	if err := store.Apply(0, []json.RawMessage{json.RawMessage(`{"type":"message","id":"e","message":{"role":"user","content":"hi"}}`)}); err != nil {
		t.Fatal(err)
	}
	data := rpc.ContextData{List: []rpc.ListPart{{Run: &[2]int{0, 0}}}}
	for _, script := range []string{`(m) => { delete m[0]; return m }`, `(m) => { m.length = 4e9; return m }`, `(m) => [m[0], , m[0]]`} {
		if got, err := play(e, NewView(e, store.Now), data, Pi, script); err == nil || !strings.Contains(err.Error(), "undefined is not a message") {
			t.Errorf("%s: %v, %v", script, got, err)
		}
	}
}

func TestASnapshotDoesNotChangeWithTheConversation(t *testing.T) {
	s := NewStore()
	raw := func(name string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"type":%q,"id":"x","custom":true}`, name))
	}
	if err := s.Apply(0, []json.RawMessage{raw("a"), raw("b"), raw("c")}); err != nil {
		t.Fatal(err)
	}
	before := s.Now()
	if err := s.Apply(1, []json.RawMessage{raw("d")}); err != nil {
		t.Fatal(err)
	}
	if before.Len() != 3 || string(before.entries[1].raw) != string(raw("b")) {
		t.Errorf("the snapshot has %d entries, the second is %s", before.Len(), before.entries[1].raw)
	}
	if now := s.Now(); now.Len() != 2 || string(now.entries[1].raw) != string(raw("d")) {
		t.Errorf("now there are %d", now.Len())
	}
	for _, keep := range []int{-1, 3} {
		if err := s.Apply(keep, nil); err == nil {
			t.Errorf("%d of 2 stay", keep)
		}
	}
	if err := s.Apply(2, make([]json.RawMessage, MaxEntries)); err == nil || s.Now().Len() != 2 {
		t.Errorf("too many: %v, %d", err, s.Now().Len())
	}
}
