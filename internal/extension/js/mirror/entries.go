package mirror

import (
	"bytes"

	"github.com/dop251/goja"
)

// Entries returns the conversation as a readonly array, whose elements are made when they
// are read. As long as nothing has changed it is the same array.
func (v *View) Entries(form Form) *goja.Object {
	f := v.of(form)
	snap := v.now()
	if f.array != nil && f.snapshot == snap {
		return f.array
	}
	if len(f.entries) > len(snap.entries) {
		clear(f.entries[len(snap.entries):])
		f.entries = f.entries[:len(snap.entries)]
	}
	a := &entryArray{f: f, snap: snap}
	f.array, f.snapshot = v.e.VM.NewDynamicArray(a), snap
	return f.array
}

// entryArray implements [goja.DynamicArray].
type entryArray struct {
	f    *formView
	snap *Snapshot
}

func (a *entryArray) Len() int { return len(a.snap.entries) }

func (a *entryArray) Get(i int) goja.Value {
	if i < 0 || i >= len(a.snap.entries) {
		return nil
	}
	return a.f.entryElement(i, a.snap.entries[i]).self
}

func (a *entryArray) Set(int, goja.Value) bool { return false }
func (a *entryArray) SetLen(int) bool          { return false }

// entryElement is one entry, made when it is read. It implements [goja.DynamicObject]
// and cannot be written to.
type entryElement struct {
	f     *formView
	index int
	entry *entry
	self  *goja.Object
	made  *goja.Object
	msg   *element
}

func (f *formView) entryElement(i int, en *entry) *entryElement {
	if i >= len(f.entries) {
		f.entries = append(f.entries, make([]*entryElement, i+1-len(f.entries))...)
	}
	el := f.entries[i]
	if el == nil || el.entry != en || el.msg != nil && (el.msg.written || el.msg.replaced != nil) {
		el = &entryElement{f: f, index: i, entry: en}
		el.self = f.v.e.VM.NewDynamicObject(el)
		f.entries[i] = el
	}
	return el
}

// typ returns the type from the first bytes, where these tell.
func (el *entryElement) typ() (string, bool) {
	rest, ok := bytes.CutPrefix(el.entry.raw, []byte(`{"type":"`))
	if !ok {
		return "", false
	}
	end := bytes.IndexAny(rest, `"\`)
	if end < 0 || rest[end] != '"' {
		return "", false
	}
	return string(rest[:end]), true
}

func (el *entryElement) message() *goja.Object {
	if el.msg == nil {
		el.msg = el.f.newElement(el.index, el.entry, nil)
	}
	return el.msg.self
}

func (el *entryElement) make() *goja.Object {
	if el.made != nil {
		return el.made
	}
	e := el.f.v.e
	v, err := e.Parse(el.entry.raw)
	if err != nil {
		e.Throw(err)
	}
	o := v.ToObject(e.VM)
	env := el.entry.read()
	if env.Custom {
		flat := e.VM.NewObject()
		if data, ok := o.Get("data").(*goja.Object); ok {
			for _, k := range data.Keys() {
				_ = flat.Set(k, data.Get(k))
			}
		}
		for _, k := range o.Keys() {
			if k != "data" && k != "custom" {
				_ = flat.Set(k, o.Get(k))
			}
		}
		o = flat
	}
	if len(env.Message) > 0 {
		_ = o.Set("message", el.message())
	}
	el.made = o
	return o
}

// Get implements [goja.DynamicObject], as do the others.
func (el *entryElement) Get(key string) goja.Value {
	if el.made == nil {
		switch key {
		case "type":
			if s, ok := el.typ(); ok {
				return el.f.v.e.VM.ToValue(s)
			}
		case "message":
			if el.entry.hasMessage() {
				return el.message()
			}
		}
	}
	if !el.Has(key) {
		return nil
	}
	return el.made.Get(key)
}

func (el *entryElement) Set(string, goja.Value) bool { return false }
func (el *entryElement) Has(key string) bool         { return el.f.v.own(el.make(), key) }
func (el *entryElement) Delete(string) bool          { return false }
func (el *entryElement) Keys() []string              { return el.make().Keys() }
