package prelude

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"scorel/internal/extension/wire"
)

type extension struct {
	d    *double
	reg  wire.Registration
	vm   *goja.Runtime
	fake *goja.Object
}

const natives = `
const __fake = { handlers: {}, modules: {} };
const __parse = (s) => s === "" ? undefined : JSON.parse(s);
const __out = {text: "text", thinking: "thinking", tool_use: "toolCall", image: "image"};
const __host = {
  call: (m, p) => new Promise((ok, no) => { const r = __call(m, JSON.stringify(p === undefined ? {} : p)); r[1] ? no(new Error(r[1])) : ok(__parse(r[0])); }),
  notify: (m, p) => __note(m, JSON.stringify(p)),
  handle: (m, f) => { __fake.handlers[m] = f; },
  onLoad: (f) => { __fake.load = f; },
  define: (n, e) => { __fake.modules[n] = e; },
  get state() { return JSON.parse(__get("state")); },
  get session() { return JSON.parse(__get("session")); },
  get config() { return JSON.parse(__get("config")); },
  entries: (form) => JSON.parse(__get("entries")).map((e) => {
    const {data, custom, message, ...rest} = e;
    if (custom) return {...data, type: e.type, id: e.id, parentId: e.parentId, timestamp: e.timestamp};
    return message ? {...rest, message: {...__host.toForm(message, form), timestamp: e.timestamp}} : rest;
  }),
  toForm: (m, form) => {
    if (form !== "pi") return m;
    const r = {...m};
    if (m.role === "tool_result") r.role = "toolResult";
    if (Array.isArray(m.content)) r.content = m.content.map((b) => b.type === "tool_use" ? {type: "toolCall", id: b.id, name: b.name, arguments: b.input} : b.type === "image" ? {type: "image", data: b.blob, mimeType: b.mediaType} : b);
    return r;
  },
  message: (m, form) => {
    const {timestamp, ...r} = m;
    if (m.role === "toolResult") r.role = "tool_result";
    if (Array.isArray(m.content)) r.content = m.content.map((b) => b.type === "toolCall" ? {type: "tool_use", id: b.id, name: b.name, input: b.arguments} : b.type === "image" ? {type: "image", blob: b.data, mediaType: b.mimeType} : b);
    return r;
  },
  list: (data, form) => {
    const entries = __host.entries(form), out = [];
    const put = (message, entryIndex) => { Object.defineProperty(message, "message", {value: message}); Object.defineProperty(message, "entryIndex", {value: entryIndex}); out.push(message); };
    for (const p of data.list) {
      if (Array.isArray(p)) for (let i = p[0]; i <= p[1]; i++) put(entries[i].message, i);
      else put(__host.toForm(p, form), null);
    }
    Object.defineProperty(out, "was", {value: JSON.stringify(out)});
    return out;
  },
  unlist: (list, form) => {
    if (list.was === JSON.stringify(list)) return undefined;
    const entries = __host.entries(form);
    return {list: list.map((e) => {
      const m = e.message || e, i = e.entryIndex;
      if (typeof i === "number" && JSON.stringify(entries[i].message) === JSON.stringify(m)) return [i, i];
      return form === "pi" ? __host.message(m, "pi") : m;
    })};
  },
};
function __ask(m, p, done) { Promise.resolve().then(() => __fake.handlers[m](JSON.parse(p))).then((v) => done(v === undefined ? "null" : JSON.stringify(v), ""), (e) => done("", String(e && e.message || e))); }
function __load(ns, done) { __fake.load(ns).then((v) => done(JSON.stringify(v), ""), (e) => done("", String(e && e.message || e))); }
`

func (e *extension) settle(run func(done func(string, string)) error) (json.RawMessage, error) {
	e.d.t.Helper()
	var out, failure string
	settled := false
	err := run(func(v, f string) { out, failure, settled = v, f, true })
	if err != nil {
		return nil, err
	}
	if !settled {
		return nil, errors.New("it never settled")
	}
	if failure != "" {
		return nil, errors.New(failure)
	}
	return json.RawMessage(out), nil
}

func (e *extension) ask(method string, params any) (json.RawMessage, error) {
	e.d.t.Helper()
	return e.settle(func(done func(string, string)) error {
		f, _ := goja.AssertFunction(e.vm.Get("__ask"))
		_, err := f(goja.Undefined(), e.vm.ToValue(method), e.vm.ToValue(string(marshal(params))), e.vm.ToValue(done))
		return err
	})
}

func (d *double) load(file string) *extension {
	d.t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	e, err := d.tryLoad(string(source))
	if err != nil {
		d.t.Fatalf("%s: %v", file, err)
	}
	return e
}

func (d *double) loadSource(source string) *extension {
	d.t.Helper()
	e, err := d.tryLoad(source)
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

func (d *double) tryLoad(source string) (*extension, error) {
	d.t.Helper()
	built := api.Transform(source, api.TransformOptions{Loader: api.LoaderTS, Format: api.FormatCommonJS, Target: api.ES2022,
		Supported: map[string]bool{"async-generator": false, "for-await": false, "using": false, "decorators": false}})
	if len(built.Errors) > 0 {
		return nil, errors.New(built.Errors[0].Text)
	}
	vm := goja.New()
	e := &extension{d: d, vm: vm}
	vm.Set("__call", func(method, params string) []string {
		v, err := d.serve(method, json.RawMessage(params))
		if err != nil {
			return []string{"", err.Error()}
		}
		return []string{string(marshal(v)), ""}
	})
	vm.Set("__note", func(method, params string) { d.noted(method, json.RawMessage(params)) })
	vm.Set("__get", func(name string) string {
		switch name {
		case "state":
			return string(marshal(d.state))
		case "session":
			return string(marshal(d.session))
		case "config":
			return string(d.config)
		}
		if d.entries == nil {
			return "[]"
		}
		return string(marshal(d.entries))
	})
	for name, text := range map[string]string{"natives": natives} {
		if _, err := vm.RunScript(name, text); err != nil {
			return nil, err
		}
	}
	if _, err := vm.RunScript(Name, Source()); err != nil {
		return nil, err
	}
	module := "(function(){const module={exports:{}};const exports=module.exports;const require=(n)=>{const m=__fake.modules[n.replace('node:','').replace('@earendil-works/','@mariozechner/').replace(/^typebox/,'@sinclair/typebox')];if(!m)throw new Error('no module '+n);return m;};\n" + string(built.Code) + "\nreturn module.exports})()"
	ns, err := vm.RunScript("ext.ts", module)
	if err != nil {
		return nil, err
	}
	out, err := e.settle(func(done func(string, string)) error {
		f, _ := goja.AssertFunction(vm.Get("__load"))
		_, err := f(goja.Undefined(), ns, vm.ToValue(done))
		return err
	})
	if err != nil {
		return nil, err
	}
	mustUnmarshal(d.t, out, &e.reg)
	return e, nil
}
