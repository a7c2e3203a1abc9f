package main

import "reflect"

// sent is what the name of a type begins with that a host sends too, and in another form.
const sent = "Sent"

// sending returns types the form that they have in requests: what the host demands of them,
// and their bounds.
type sending struct {
	m        *module
	received map[string]bool // what a host sends
}

// received returns the declarations that a host sends.
func (m *module) received() map[string]bool {
	found := map[string]bool{}
	var look func(name string)
	look = func(name string) {
		if !found[name] {
			found[name] = true
			m.uses(m.by[name], look)
		}
	}
	for _, p := range m.pairs {
		look(p.response)
	}
	look("Frame")
	look("SessionEvent")
	return found
}

// unbounded returns a declaration without bounds, which a host does not keep in what it sends:
// logs of other versions may have anything.
func unbounded(d *decl) *decl {
	out := *d
	out.fields = nil
	for _, f := range d.fields {
		f.bound = bound{}
		out.fields = append(out.fields, f)
	}
	return &out
}

// request returns a request as the host judges it: what it does not demand may be left out
// or null, and what it demands may be null as its type says.
func (w sending) request(d *decl) *decl {
	out := *d
	out.fields = nil
	for _, f := range d.fields {
		if inner, ok := f.typ.(ref); ok && w.m.by[string(inner)].kind == object {
			f.optional = true // its own fields say what is needed
		}
		f.typ = w.typ(f.typ)
		if f.bound.need || f.typ == ref("SentContent") {
			f.typ, f.optional = notNull(f.typ), false
		} else if f.optional && f.typ != unknown {
			f.typ = orNull(f.typ)
		}
		out.fields = append(out.fields, f)
	}
	return &out
}

// object returns an object within a request: the host demands nothing of it by its form.
func (w sending) object(d *decl) *decl {
	out := *d
	out.name = w.name(d.name)
	out.fields = nil
	for _, f := range d.fields {
		f.typ = notNull(w.typ(f.typ))
		f.optional = f.typ != ref("SentContent") && !f.bound.need
		out.fields = append(out.fields, f)
	}
	return &out
}

// name returns the name that a type has in requests.
func (w sending) name(name string) string {
	if w.received[name] {
		return sent + name
	}
	return name
}

// typ returns the type of a field of a request.
func (w sending) typ(t typ) typ {
	switch t := t.(type) {
	case list:
		if t.of == ref("Block") {
			return ref("SentContent")
		}
		return list{w.typ(t.of)}
	case union:
		var out union
		for _, u := range t {
			if u = w.typ(u); u == ref("SentContent") {
				return u // null is not content
			}
			out = append(out, u)
		}
		return out
	case ref:
		if w.differs(w.m.by[string(t)]) {
			return ref(w.name(string(t)))
		}
	}
	return t
}

// differs reports whether a type has another form in requests.
func (w sending) differs(d *decl) bool {
	if d.kind != object {
		return false
	}
	for _, f := range w.m.all(d) {
		if !f.optional || !reflect.DeepEqual(f.bound, bound{}) {
			return true
		}
	}
	return false
}

// within returns the types within requests that have another form there.
func (w sending) within(requests map[string]bool) map[string]bool {
	found, seen := map[string]bool{}, map[string]bool{}
	var look func(name string)
	look = func(name string) {
		d := w.m.by[name]
		if seen[name] || d.kind != object {
			return
		}
		seen[name] = true
		found[name] = w.differs(d)
		for _, f := range d.fields {
			refs(f.typ, look)
		}
	}
	for name := range requests {
		for _, f := range w.m.by[name].fields {
			refs(f.typ, look)
		}
	}
	for name, differs := range found {
		if !differs {
			delete(found, name)
		}
	}
	return found
}
