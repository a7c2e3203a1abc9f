package engine

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/pattern"
)

//go:embed globals.js
var globalsSource []byte

// program compiles a script of Scorel's own once a process.
func program(name string, source *[]byte) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program {
		p, err := pattern.Compile("scorel:"+name, *source)
		if err != nil {
			panic(err) // a script of our own
		}
		return p
	})
}

var globals = program("globals", &globalsSource)

// Warm compiles what every engine begins with, so that the first needs not wait for it.
func Warm() { globals() }

// library are values of the runtime that are taken before an extension can change them.
type library struct {
	errorType *goja.Object
	stringify goja.Callable
	inspectFn goja.Callable
	internal  *goja.Object
	began     time.Time
}

func (e *Engine) install() error {
	pattern.LimitTime()
	vm := e.VM
	json := vm.Get("JSON").ToObject(vm)
	e.lib.errorType = vm.Get("Error").ToObject(vm)
	e.lib.stringify, _ = goja.AssertFunction(json.Get("stringify"))
	e.lib.began = time.Now()
	v, err := vm.RunProgram(globals())
	if err != nil {
		return fmt.Errorf("make a runtime: %w", err)
	}
	f, _ := goja.AssertFunction(v)
	v, err = f(goja.Undefined(), e.natives(), vm.GlobalObject())
	if err != nil {
		return fmt.Errorf("make a runtime: %w", err)
	}
	e.lib.internal = v.ToObject(vm)
	e.lib.inspectFn, _ = goja.AssertFunction(e.lib.internal.Get("inspect"))
	e.modules = modules{engine: e, loaded: map[string]goja.Value{}, later: map[string]goja.Callable{}}
	return nil
}

// Internal are the functions that Scorel's own scripts share.
func (e *Engine) Internal() *goja.Object { return e.lib.internal }

func (e *Engine) inspect(v goja.Value) string {
	s, err := e.lib.inspectFn(goja.Undefined(), v)
	if err != nil {
		return "a value that cannot be shown"
	}
	return s.String()
}

// natives are the functions that globals.js is built on.
func (e *Engine) natives() *goja.Object {
	vm := e.VM
	o := vm.NewObject()
	set := func(name string, f func(call goja.FunctionCall) goja.Value) { _ = o.Set(name, f) }
	set("log", func(c goja.FunctionCall) goja.Value {
		e.cfg.Log(c.Argument(0).String(), clip(c.Argument(1).String(), maxLogText))
		return goja.Undefined()
	})
	set("failed", func(c goja.FunctionCall) goja.Value {
		e.cfg.Failed(c.Argument(0).String(), e.FailureOf(c.Argument(1)))
		return goja.Undefined()
	})
	set("now", func(goja.FunctionCall) goja.Value {
		return vm.ToValue(float64(time.Since(e.lib.began).Nanoseconds()) / 1e6)
	})
	set("setTimer", func(c goja.FunctionCall) goja.Value {
		f, _ := goja.AssertFunction(c.Argument(1))
		id, err := e.setTimer(time.Duration(c.Argument(0).ToFloat()*float64(time.Millisecond)), func() {
			if _, err := e.Call(f, goja.Undefined()); err != nil {
				e.report("timer", err)
			}
		})
		if err != nil {
			e.Throw(err)
		}
		return vm.ToValue(id)
	})
	set("clearTimer", func(c goja.FunctionCall) goja.Value {
		e.clearTimer(c.Argument(0).ToInteger())
		return goja.Undefined()
	})
	set("mendPattern", func(c goja.FunctionCall) goja.Value { return vm.ToValue(pattern.Mend(c.Argument(0).String())) })
	set("utf8", func(c goja.FunctionCall) goja.Value { return e.Buffer([]byte(text(c.Argument(0)))) })
	set("latin1", func(c goja.FunctionCall) goja.Value {
		s := utf16Of(c.Argument(0))
		b := make([]byte, len(s))
		for i, u := range s {
			b[i] = byte(u)
		}
		return e.Buffer(b)
	})
	set("utf16", func(c goja.FunctionCall) goja.Value {
		s := utf16Of(c.Argument(0))
		b := make([]byte, 0, 2*len(s))
		for _, u := range s {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		return e.Buffer(b)
	})
	set("encoding", func(c goja.FunctionCall) goja.Value { return vm.ToValue(encodingName(c.Argument(0).String())) })
	set("decode", func(c goja.FunctionCall) goja.Value {
		s, ok := decode(vm, e.Bytes(c.Argument(0)), c.Argument(1).String(), c.Argument(2).ToBoolean())
		if !ok {
			panic(vm.NewTypeError("The encoded data was not valid for encoding %s", c.Argument(1).String()))
		}
		return s
	})
	set("whole", func(c goja.FunctionCall) goja.Value {
		return vm.ToValue(whole(e.Bytes(c.Argument(0)), c.Argument(1).String()))
	})
	set("base64", func(c goja.FunctionCall) goja.Value {
		if c.Argument(1).ToBoolean() {
			return vm.ToValue(base64.RawURLEncoding.EncodeToString(e.Bytes(c.Argument(0))))
		}
		return vm.ToValue(base64.StdEncoding.EncodeToString(e.Bytes(c.Argument(0))))
	})
	set("unbase64", func(c goja.FunctionCall) goja.Value {
		b, ok := unbase64(c.Argument(0).String(), c.Argument(1).ToBoolean())
		if !ok {
			return goja.Null()
		}
		return e.Buffer(b)
	})
	set("hex", func(c goja.FunctionCall) goja.Value { return vm.ToValue(hex.EncodeToString(e.Bytes(c.Argument(0)))) })
	set("unhex", func(c goja.FunctionCall) goja.Value {
		s := c.Argument(0).String()
		b := make([]byte, 0, len(s)/2)
		for i := 0; i+1 < len(s); i += 2 {
			d, err := hex.DecodeString(s[i : i+2])
			if err != nil {
				break
			}
			b = append(b, d...)
		}
		return e.Buffer(b)
	})
	set("random", func(c goja.FunctionCall) goja.Value {
		k := c.Argument(0).ToInteger()
		if k < 0 || k > 1<<24 {
			e.Throw(fmt.Errorf("%d random bytes are asked for; at most 16,777,216 at once", k))
		}
		b := make([]byte, k)
		_, _ = rand.Read(b)
		return e.Buffer(b)
	})
	set("isUtf8", func(c goja.FunctionCall) goja.Value { return vm.ToValue(utf8.Valid(e.Bytes(c.Argument(0)))) })
	set("find", func(c goja.FunctionCall) goja.Value {
		return vm.ToValue(find(e.Bytes(c.Argument(0)), e.Bytes(c.Argument(1)), int(c.Argument(2).ToInteger()), c.Argument(3).ToBoolean()))
	})
	set("uuid", func(goja.FunctionCall) goja.Value { return vm.ToValue(uuid()) })
	set("library", func(c goja.FunctionCall) goja.Value { return e.loadLibrary(c.Argument(0).String()) })
	set("module", func(c goja.FunctionCall) goja.Value { return e.Module(c.Argument(0).String()) })
	set("fetch", e.fetch)
	_ = o.Set("cpus", runtime.NumCPU())
	return o
}

// report reports an error that no caller answers for; of what was stopped Interrupted is
// told.
func (e *Engine) report(what string, err error) {
	if IsStop(err) && e.cfg.Interrupted != nil {
		return
	}
	f := e.Failure(err)
	if f.Message == ErrClosed.Error() {
		return
	}
	e.cfg.Failed(what, f)
}

// Bytes returns the bytes of an ArrayBuffer or a view; they are the script's own. It
// throws for anything else.
func (e *Engine) Bytes(v goja.Value) []byte {
	switch x := v.Export().(type) {
	case []byte:
		return x
	case goja.ArrayBuffer:
		return x.Bytes()
	}
	if o, ok := v.(*goja.Object); ok {
		if buf, ok := o.Get("buffer").Export().(goja.ArrayBuffer); ok {
			all := buf.Bytes()
			from, n := o.Get("byteOffset").ToInteger(), o.Get("byteLength").ToInteger()
			if from >= 0 && n >= 0 && from+n <= int64(len(all)) {
				return all[from : from+n]
			}
		}
	}
	panic(e.VM.NewTypeError("an ArrayBuffer or a view of one is needed"))
}

// Buffer makes an ArrayBuffer of bytes that are nobody else's.
func (e *Engine) Buffer(b []byte) goja.Value { return e.VM.ToValue(e.VM.NewArrayBuffer(b)) }

// Stringify makes JSON of a value; nil for what has none, as undefined.
func (e *Engine) Stringify(v goja.Value) ([]byte, error) {
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	s, err := e.Call(e.lib.stringify, goja.Undefined(), v)
	if err != nil || goja.IsUndefined(s) {
		return nil, err
	}
	return []byte(text(s)), nil
}

// text is a string as UTF-8; lone surrogates become U+FFFD.
func text(v goja.Value) string {
	s := v.String()
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

func utf16Of(v goja.Value) []uint16 {
	s, ok := v.ToString().(goja.String)
	if !ok {
		return utf16.Encode([]rune(v.String()))
	}
	out := make([]uint16, s.Length())
	for i := range out {
		out[i] = s.CharAt(i)
	}
	return out
}

func encodingName(label string) string {
	switch strings.ToLower(strings.TrimSpace(label)) {
	case "utf-8", "utf8", "unicode-1-1-utf-8":
		return "utf-8"
	case "utf-16le", "utf-16", "ucs-2", "ucs2", "utf16le":
		return "utf-16le"
	case "latin1", "ascii", "us-ascii", "iso-8859-1", "windows-1252", "binary":
		return "latin1"
	}
	return ""
}

func decode(vm *goja.Runtime, b []byte, encoding string, fatal bool) (goja.Value, bool) {
	switch encoding {
	case "utf-16le":
		u := make([]uint16, len(b)/2)
		for i := range u {
			u[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
		return goja.StringFromUTF16(u), !fatal || len(b)%2 == 0
	case "latin1":
		u := make([]uint16, len(b))
		for i, c := range b {
			u[i] = uint16(c)
		}
		return goja.StringFromUTF16(u), true
	}
	if utf8.Valid(b) {
		return vm.ToValue(string(b)), true
	}
	return vm.ToValue(replaceInvalid(b)), !fatal
}

// replaceInvalid puts one U+FFFD for each maximal subpart, as WHATWG decoders do.
func replaceInvalid(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			n = subpart(b[i:])
			s.WriteRune(utf8.RuneError)
		} else {
			s.WriteRune(r)
		}
		i += n
	}
	return s.String()
}

// subpart returns the length of the longest prefix that could have begun a character.
func subpart(b []byte) int {
	var need int
	lo, hi := byte(0x80), byte(0xbf)
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			lo = 0xa0
		} else if c == 0xed {
			hi = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			lo = 0x90
		} else if c == 0xf4 {
			hi = 0x8f
		}
	}
	n := 1
	for ; n <= need && n < len(b) && b[n] >= lo && b[n] <= hi; n++ {
		lo, hi = 0x80, 0xbf
	}
	return n
}

// whole returns how many bytes end with a whole character.
func whole(b []byte, encoding string) int {
	switch encoding {
	case "utf-16le":
		n := len(b) &^ 1
		if n >= 2 && utf16.IsSurrogate(rune(binary.LittleEndian.Uint16(b[n-2:]))) && b[n-1]&0xfc == 0xd8 {
			n -= 2
		}
		return n
	case "latin1":
		return len(b)
	}
	for back := 1; back <= 3 && back <= len(b); back++ {
		if c := b[len(b)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-back:]) {
				return len(b) - back
			}
			break
		}
	}
	return len(b)
}

// unbase64 reads both alphabets, with padding or without. Strict refuses what is none,
// otherwise it is left out, as Node does.
func unbase64(s string, strict bool) ([]byte, bool) {
	clean := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			clean = append(clean, c)
		case c == '-' && !strict:
			clean = append(clean, '+')
		case c == '_' && !strict:
			clean = append(clean, '/')
		case c == '=':
			if strict && strings.Trim(s[i:], "= \t\n\f\r") != "" {
				return nil, false
			}
			i = len(s)
		case c == ' ', c == '\t', c == '\n', c == '\f', c == '\r':
		default:
			if strict {
				return nil, false
			}
		}
		if i < len(s) && s[i] == '=' {
			break
		}
	}
	if len(clean)%4 == 1 {
		if strict {
			return nil, false
		}
		clean = clean[:len(clean)-1]
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(clean)))
	n, err := base64.RawStdEncoding.Decode(out, clean)
	return out[:n], err == nil
}

// find returns the first place at or after from, or the last at or before it; -1 if none.
func find(b, what []byte, from int, last bool) int {
	if last {
		if from < 0 {
			return -1
		}
		return bytes.LastIndex(b[:min(len(b), min(from, len(b))+len(what))], what)
	}
	if from > len(b) {
		return -1
	}
	if i := bytes.Index(b[from:], what); i >= 0 {
		return from + i
	}
	return -1
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
