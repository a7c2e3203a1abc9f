package mirror

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/rpc"
	"scorel/internal/extension/shape"
)

// Form says how messages look.
type Form string

// The forms.
const (
	Scorel Form = "scorel"
	Pi     Form = "pi"
)

// ParseForm returns a form by its name; "" is Scorel's own.
func ParseForm(s string) (Form, error) {
	switch s {
	case "", string(Scorel):
		return Scorel, nil
	case string(Pi):
		return Pi, nil
	}
	return "", fmt.Errorf("there is no form %q of messages; use scorel or pi", s)
}

// View shows a store to one runtime.
type View struct {
	e *engine.Engine
	// Now gives the conversation as the code that runs should see it.
	now func() *Snapshot

	forms  [2]*formView
	hasOwn goja.Callable
}

// formView is what is kept of one form.
type formView struct {
	v        *View
	form     Form
	proto    *goja.Object // of elements
	lists    []*element   // by index of their entry, for lists of messages
	entries  []*entryElement
	array    *goja.Object
	snapshot *Snapshot // of entries and array
}

// NewView makes a view for an engine; it is for jobs of the engine.
func NewView(e *engine.Engine, now func() *Snapshot) *View {
	v := &View{e: e, now: now}
	v.hasOwn, _ = goja.AssertFunction(e.VM.Get("Object").ToObject(e.VM).Get("hasOwn"))
	return v
}

func (v *View) of(form Form) *formView {
	i := 0
	if form == Pi {
		i = 1
	}
	if v.forms[i] == nil {
		f := &formView{v: v, form: form}
		f.proto = f.newProto()
		v.forms[i] = f
	}
	return v.forms[i]
}

// newProto has what an element offers beside the message.
func (f *formView) newProto() *goja.Object {
	vm := f.v.e.VM
	proto := vm.NewObject()
	self := func(c goja.FunctionCall) *element {
		if o, ok := c.This.(*goja.Object); ok {
			if el, ok := o.Export().(*element); ok {
				return el
			}
		}
		return nil
	}
	get := func(g func(el *element, this goja.Value) goja.Value) goja.Value {
		return vm.ToValue(func(c goja.FunctionCall) goja.Value {
			if el := self(c); el != nil {
				return g(el, c.This)
			}
			return goja.Undefined()
		})
	}
	_ = proto.DefineAccessorProperty("message",
		get(func(el *element, this goja.Value) goja.Value {
			if el.replaced != nil {
				return el.replaced
			}
			return this
		}),
		vm.ToValue(func(c goja.FunctionCall) goja.Value {
			if el := self(c); el != nil {
				el.replaced = c.Argument(0)
			}
			return goja.Undefined()
		}), goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = proto.DefineAccessorProperty("entryIndex",
		get(func(el *element, _ goja.Value) goja.Value {
			if el.index < 0 {
				return goja.Null()
			}
			return vm.ToValue(el.index)
		}),
		vm.ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() }), goja.FLAG_TRUE, goja.FLAG_FALSE)
	return proto
}

// element is one message of a list, made when it is read. It implements
// [goja.DynamicObject].
type element struct {
	f     *formView
	index int    // of its entry, -1 without one
	entry *entry // of index
	raw   []byte // the message, in the form of the log

	self     *goja.Object
	made     *goja.Object // the message as an object
	canon    []byte       // what it was made of
	written  bool
	replaced goja.Value // what was put into its place as message
}

func (f *formView) newElement(index int, en *entry, raw []byte) *element {
	el := &element{f: f, index: index, entry: en, raw: raw}
	el.self = f.v.e.VM.NewDynamicObject(el)
	_ = el.self.SetPrototype(f.proto)
	return el
}

func (el *element) message() []byte {
	if el.entry != nil {
		return el.entry.read().Message
	}
	return el.raw
}

// canonical is the message in the form's own JSON.
func (el *element) canonical() ([]byte, error) {
	if el.f.form != Pi {
		return el.message(), nil
	}
	var at int64
	if el.entry != nil {
		at = el.entry.read().Timestamp
	}
	return shape.ToPi(el.message(), at)
}

func (el *element) make() *goja.Object {
	if el.made != nil {
		return el.made
	}
	e := el.f.v.e
	canon, err := el.canonical()
	if err != nil {
		e.Throw(err)
	}
	v, err := e.Parse(canon)
	if err != nil {
		e.Throw(err)
	}
	el.made, el.canon = v.ToObject(e.VM), canon
	return el.made
}

// role returns the role without the rest of the message.
func (el *element) role() (string, bool) {
	raw := el.raw
	if el.entry != nil {
		raw = el.entry.raw
		const key = `"message":`
		i := bytes.Index(raw, []byte(key))
		if i < 0 || bytes.IndexByte(raw[:i], '{') != 0 || bytes.IndexByte(raw[1:i], '{') >= 0 {
			return "", false
		}
		raw = raw[i+len(key):]
	}
	rest, ok := bytes.CutPrefix(raw, []byte(`{"role":"`))
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return "", false
	}
	switch role := string(rest[:end]); {
	case role == "tool_result" && el.f.form == Pi:
		return "toolResult", true
	default:
		return role, true
	}
}

// Get implements [goja.DynamicObject], as do the others.
func (el *element) Get(key string) goja.Value {
	if el.made == nil {
		if key == "message" || key == "entryIndex" {
			return nil
		}
		if key == "role" {
			if role, ok := el.role(); ok {
				return el.f.v.e.VM.ToValue(role)
			}
		}
	}
	if !el.Has(key) {
		return nil
	}
	return el.made.Get(key)
}

func (el *element) Set(key string, val goja.Value) bool {
	el.written = true
	return el.make().Set(key, val) == nil
}

func (el *element) Has(key string) bool {
	if el.made == nil && (key == "message" || key == "entryIndex") {
		return false
	}
	return el.f.v.own(el.make(), key)
}

func (el *element) Delete(key string) bool {
	el.written = true
	return el.make().Delete(key) == nil
}

func (el *element) Keys() []string { return el.make().Keys() }

func (v *View) own(o *goja.Object, key string) bool {
	r, err := v.hasOwn(goja.Undefined(), o, v.e.VM.ToValue(key))
	return err == nil && r.ToBoolean()
}

// changed reports whether the message is another than it was, at any depth.
func (el *element) changed() (bool, error) {
	if el.made == nil {
		return false, nil
	}
	if el.f.v.e.Same(el.made, el.canon) {
		return false, nil
	}
	now, err := el.f.v.e.Stringify(el.made)
	if err != nil {
		return false, err
	}
	same, err := el.f.v.same(now, el.canon)
	return !same, err
}

// same compares JSON that the interpreter wrote with other JSON.
func (v *View) same(now, canon []byte) (bool, error) {
	if bytes.Equal(now, canon) {
		return true, nil
	}
	again, err := v.e.Parse(canon) // the interpreter writes numbers and some signs in its own way
	if err != nil {
		return false, err
	}
	was, err := v.e.Stringify(again)
	return bytes.Equal(now, was), err
}

// List makes the array of the messages of a list. It returns what [View.Unlist] needs to
// know it again.
func (v *View) List(data rpc.ContextData, form Form) (*goja.Object, *Listed, error) {
	f := v.of(form)
	snap := v.now()
	listed := &Listed{f: f}
	for _, part := range data.List {
		if part.Run == nil {
			listed.elements = append(listed.elements, f.newElement(-1, nil, part.Message))
			continue
		}
		from, to := part.Run[0], part.Run[1]
		if to >= len(snap.entries) {
			return nil, nil, fmt.Errorf("the list names the entry %d, and there are %d", to, len(snap.entries))
		}
		listed.elements = slices.Grow(listed.elements, to-from+1)
		for i := from; i <= to; i++ {
			if en := snap.entries[i]; en.hasMessage() {
				listed.elements = append(listed.elements, f.listElement(i, en))
			}
		}
	}
	values := make([]any, len(listed.elements))
	for i, el := range listed.elements {
		values[i] = el.self
	}
	return v.e.VM.NewArray(values...), listed, nil
}

// listElement returns the element of an entry. One that nobody has looked into yet serves
// for several lists.
func (f *formView) listElement(i int, en *entry) *element {
	if i >= len(f.lists) {
		f.lists = append(f.lists, make([]*element, i+1-len(f.lists))...)
	}
	el := f.lists[i]
	if el == nil || el.entry != en || el.made != nil || el.replaced != nil {
		el = f.newElement(i, en, nil)
		f.lists[i] = el
	}
	return el
}

// Listed is a list that was handed out.
type Listed struct {
	f        *formView
	elements []*element
}

// Unlist reads a list that came back: nil when it is the one that was handed out,
// unchanged.
func (v *View) Unlist(array goja.Value, form Form, listed *Listed) (*rpc.ContextData, error) {
	o, ok := array.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return nil, fmt.Errorf("messages is not an array")
	}
	f := v.of(form)
	out := &rpc.ContextData{List: []rpc.ListPart{}}
	n := int(o.Get("length").ToInteger())
	untouched := listed != nil && n == len(listed.elements)
	for i := range n {
		item := o.Get(strconv.Itoa(i)) // ExportTo takes ten times as long, and panics at a hole
		if item == nil {
			item = goja.Undefined()
		}
		el, message, err := f.unlistOne(item)
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		switch {
		case message != nil:
			out.List = append(out.List, rpc.ListPart{Message: message})
			untouched = false
			continue
		case el.index < 0:
			out.List = append(out.List, rpc.ListPart{Message: el.raw})
		default:
			if n := len(out.List); n > 0 && out.List[n-1].Run != nil && out.List[n-1].Run[1] == el.index-1 {
				out.List[n-1].Run[1] = el.index
			} else {
				out.List = append(out.List, rpc.ListPart{Run: &[2]int{el.index, el.index}})
			}
		}
		untouched = untouched && (el == listed.elements[i] || el.index >= 0 && el.index == listed.elements[i].index)
	}
	if untouched {
		return nil, nil
	}
	return out, nil
}

// unlistOne returns the element that an item is, unchanged, or a message.
func (f *formView) unlistOne(item goja.Value) (*element, []byte, error) {
	o, ok := item.(*goja.Object)
	if !ok {
		return nil, nil, fmt.Errorf("%.40s is not a message", item.String())
	}
	if el, ok := o.Export().(*element); ok {
		if el.replaced != nil {
			return f.unlistOne(el.replaced)
		}
		changed, err := el.changed()
		if err != nil || !changed {
			return el, nil, err
		}
		message, err := f.fromObject(el.made)
		return nil, message, err
	}
	if role := o.Get("role"); role == nil || goja.IsUndefined(role) {
		inner, ok := o.Get("message").(*goja.Object)
		if !ok {
			return nil, nil, fmt.Errorf("it is not a message: a message is an object with role and content")
		}
		if _, isElement := inner.Export().(*element); !isElement {
			if el := f.unchangedCopy(inner, o.Get("entryIndex")); el != nil {
				return el, nil, nil
			}
		}
		return f.unlistOne(inner)
	}
	message, err := f.fromObject(o)
	return nil, message, err
}

// unchangedCopy returns the element of an entry whose message an object says that it is,
// if it is the same.
func (f *formView) unchangedCopy(o *goja.Object, index goja.Value) *element {
	if index == nil || goja.IsUndefined(index) || goja.IsNull(index) {
		return nil
	}
	i := int(index.ToInteger())
	snap := f.v.now()
	if i < 0 || i >= len(snap.entries) || !snap.entries[i].hasMessage() {
		return nil
	}
	el := f.newElement(i, snap.entries[i], nil)
	canon, err := el.canonical()
	if err != nil {
		return nil
	}
	if f.v.e.Same(o, canon) {
		return el
	}
	now, err := f.v.e.Stringify(o)
	if err != nil {
		return nil
	}
	if same, err := f.v.same(now, canon); err != nil || !same {
		return nil
	}
	return el
}

func (f *formView) fromObject(o *goja.Object) ([]byte, error) {
	data, err := f.v.e.Stringify(o)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, fmt.Errorf("it is not a message")
	}
	return shape.FromPi(data)
}
