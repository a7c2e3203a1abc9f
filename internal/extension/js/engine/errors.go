package engine

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"
)

// Error is what went wrong in JavaScript: what it says, and where in the extension's own
// files, a line each, as their source maps have it.
type Error struct {
	Message string
	Stack   string
}

func (e *Error) Error() string { return e.Message }

const (
	maxMessage = 4_000 // bytes of an error's text
	maxFrames  = 20
)

// Coded is a Go error that has a code for JavaScript, as ENOENT.
type Coded interface {
	error
	Fields() map[string]any // code, errno, syscall, path
}

// NewError makes a JavaScript error.
func (e *Engine) NewError(err error) goja.Value {
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return ex.Value()
	}
	var thrown *Thrown
	if errors.As(err, &thrown) {
		return thrown.Value
	}
	o, nerr := e.VM.New(e.lib.errorType, e.VM.ToValue(err.Error()))
	if nerr != nil {
		return e.VM.ToValue(err.Error())
	}
	var coded Coded
	if errors.As(err, &coded) {
		for k, v := range coded.Fields() {
			_ = o.Set(k, v)
		}
	}
	return o
}

// Thrown is an error that is a JavaScript value already.
type Thrown struct{ Value goja.Value }

func (t *Thrown) Error() string { return "thrown" }

// Throw throws a Go error in a native function.
func (e *Engine) Throw(err error) { panic(e.NewError(err)) }

// Failure says what an error of Call or Run is.
func (e *Engine) Failure(err error) *Error {
	var own *Error
	var ex *goja.Exception
	var in *goja.InterruptedError
	var deep *goja.StackOverflowError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &in):
		return located(e.stopCause(in).Error(), e.frames(in.Stack()))
	case errors.As(err, &deep):
		return located("its calls are nested too deeply: does a function call itself for ever?", e.frames(deep.Stack()))
	case errors.As(err, &ex):
		f := e.FailureOf(ex.Value())
		if f.Stack == "" {
			f.Stack = e.frames(ex.Stack())
		}
		return f
	}
	return &Error{Message: err.Error()}
}

// located is an error of code that did not throw it: its message names the line where the
// code was.
func located(message, stack string) *Error {
	if line, _, _ := strings.Cut(stack, "\n"); line != "" {
		message += " (" + line + ")"
	}
	return &Error{Message: message, Stack: stack}
}

// FailureOf says what a thrown value, or the reason of a rejection, is.
func (e *Engine) FailureOf(v goja.Value) (f *Error) {
	f = &Error{Message: "undefined was thrown"}
	defer func() { // a getter may throw
		if r := recover(); r != nil {
			f.Message = "a value that cannot be read was thrown"
		}
	}()
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return f
	}
	o, ok := v.(*goja.Object)
	if !ok {
		f.Message = clip(v.String(), maxMessage)
		return f
	}
	text := func(name string) string {
		if p := o.Get(name); p != nil && !goja.IsUndefined(p) && !goja.IsNull(p) {
			return p.String()
		}
		return ""
	}
	name, message := text("name"), text("message")
	switch {
	case message == "" && name == "":
		f.Message = clip(e.inspect(v), maxMessage)
	case message == "":
		f.Message = name
	case name == "" || name == "Error":
		f.Message = clip(message, maxMessage)
	default:
		f.Message = clip(name+": "+message, maxMessage)
	}
	f.Stack = e.stackText(text("stack"))
	return f
}

// frames writes a stack.
func (e *Engine) frames(stack []goja.StackFrame) string {
	var b strings.Builder
	n := 0
	for _, s := range stack {
		pos := s.Position()
		line := s.FuncName() + " (" + pos.String() + ")"
		if s.SrcName() == "<native>" || strings.HasPrefix(s.SrcName(), "scorel:") || pos.Line == 0 {
			continue
		}
		if n++; n > maxFrames {
			break
		}
		b.WriteString("at " + e.short(line) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// stackText takes the extension's own lines from the stack of an error.
func (e *Engine) stackText(stack string) string {
	var lines []string
	for line := range strings.Lines(stack) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "at ") || strings.Contains(line, "scorel:") || strings.Contains(line, "(native)") || strings.HasSuffix(line, "at native") {
			continue
		}
		if lines = append(lines, e.short(position(line))); len(lines) == maxFrames {
			break
		}
	}
	return strings.Join(lines, "\n")
}

// position drops the interpreter's own counter after a position: "a.ts:3:5(12)".
func position(line string) string {
	i := strings.LastIndexByte(line, '(')
	if i > 0 && isCounter(strings.TrimRight(line[i+1:], ")")) {
		rest := strings.TrimRight(line[i:], ")")
		closing := len(line[i:]) - len(rest) - 1
		return line[:i] + strings.Repeat(")", closing)
	}
	return line
}

func isCounter(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// short shows paths in the extension's folder without it.
func (e *Engine) short(line string) string {
	if e.cfg.Root == "" {
		return line
	}
	return strings.ReplaceAll(line, strings.TrimSuffix(e.cfg.Root, "/")+string(filepath.Separator), "")
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
