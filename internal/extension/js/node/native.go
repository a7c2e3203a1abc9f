package node

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/dop251/goja"
	"golang.org/x/sys/unix"

	"scorel/internal/extension/js/engine"
)

// object makes the object of native functions of a module.
type object struct {
	e *engine.Engine
	*goja.Object
}

func newObject(e *engine.Engine) object { return object{e, e.VM.NewObject()} }

func (o object) value(name string, v any) { _ = o.Set(name, v) }

func (o object) function(name string, f func(c goja.FunctionCall) goja.Value) { _ = o.Set(name, f) }

// sysError is an error as Node has it: a code, and a text that begins with it.
type sysError struct {
	code    string
	errno   int
	syscall string
	path    string
	dest    string
	text    string
}

func (e *sysError) Error() string {
	s := e.code + ": " + e.text + ", " + e.syscall
	if e.path != "" {
		s += " '" + e.path + "'"
	}
	if e.dest != "" {
		s += " -> '" + e.dest + "'"
	}
	return s
}

// Fields implements [engine.Coded].
func (e *sysError) Fields() map[string]any {
	f := map[string]any{"code": e.code, "errno": -e.errno, "syscall": e.syscall}
	if e.path != "" {
		f["path"] = e.path
	}
	if e.dest != "" {
		f["dest"] = e.dest
	}
	return f
}

// nodeError makes an error of the system one of Node.
func nodeError(err error, call, path, dest string) error {
	var own *sysError
	if err == nil || errors.As(err, &own) {
		return err
	}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
	case errors.Is(err, fs.ErrNotExist):
		errno = syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		errno = syscall.EEXIST
	case errors.Is(err, fs.ErrPermission):
		errno = syscall.EACCES
	case errors.Is(err, os.ErrClosed):
		errno = syscall.EBADF
	default:
		return err
	}
	return &sysError{code: errnoName(errno), errno: int(errno), syscall: call, path: path, dest: dest, text: strings.ToLower(errnoText(errno))}
}

func errnoName(e syscall.Errno) string {
	if name := unix.ErrnoName(e); name != "" {
		return name
	}
	return "UNKNOWN"
}

func errnoText(e syscall.Errno) string {
	switch e {
	case syscall.EACCES:
		return "permission denied"
	case syscall.EPERM:
		return "operation not permitted"
	case syscall.EEXIST:
		return "file already exists"
	case syscall.ENOTDIR:
		return "not a directory"
	case syscall.EISDIR:
		return "illegal operation on a directory"
	case syscall.ENOTEMPTY:
		return "directory not empty"
	case syscall.EBADF:
		return "bad file descriptor"
	case syscall.EINVAL:
		return "invalid argument"
	}
	return e.Error()
}
