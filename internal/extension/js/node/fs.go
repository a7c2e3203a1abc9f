package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
)

// Bounds of fs.
const (
	maxFile    = 256 << 20 // bytes of a file that is read as a whole
	maxRead    = 64 << 20  // bytes of one read
	maxEntries = 200_000   // of one readdir
	maxOpen    = 256       // files
)

// files are the open files of one extension.
type files struct {
	mu   sync.Mutex
	m    map[int]*os.File
	next int
	cwd  string
}

// fsNative is sync(op, args) and async(op, args).
func fsNative(e *engine.Engine) goja.Value {
	t := &files{m: map[int]*os.File{}, next: 10, cwd: e.Config().Cwd}
	e.OnClose(t.closeAll)
	o := newObject(e)
	o.value("flags", []int{os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND})
	o.function("sync", func(c goja.FunctionCall) goja.Value {
		op, args := c.Argument(0).String(), arguments(e, c.Argument(1), false)
		r, err := t.do(op, args)
		if err != nil {
			e.Throw(err)
		}
		return result(e, r)
	})
	o.function("async", func(c goja.FunctionCall) goja.Value {
		op, args := c.Argument(0).String(), arguments(e, c.Argument(1), true)
		return e.Promise(func(settle func(func() (any, error))) {
			go func() { // ends with the operation
				r, err := t.do(op, args)
				settle(func() (any, error) {
					if err != nil {
						return nil, err
					}
					return result(e, r), nil
				})
			}()
		})
	})
	return o
}

// arguments takes the values over. Bytes are copied for what runs beside the script.
func arguments(e *engine.Engine, v goja.Value, copied bool) []any {
	o := v.ToObject(e.VM)
	args := make([]any, o.Get("length").ToInteger())
	for i := range args {
		a := o.Get(fmt.Sprint(i))
		if obj, ok := a.(*goja.Object); ok {
			b := e.Bytes(obj)
			if copied {
				b = append([]byte(nil), b...)
			}
			args[i] = b
			continue
		}
		args[i] = a.Export()
	}
	return args
}

// result makes a value of what an operation gave.
func result(e *engine.Engine, r any) goja.Value {
	switch r := r.(type) {
	case nil:
		return goja.Undefined()
	case absent:
		return goja.Null()
	case []byte:
		return e.Buffer(r)
	case stat:
		o := e.VM.NewObject()
		for _, f := range r {
			_ = o.Set(f.name, f.value)
		}
		return o
	case []dirent:
		list := make([]any, len(r))
		for i, d := range r {
			o := e.VM.NewObject()
			_ = o.Set("name", d.name)
			_ = o.Set("parent", d.parent)
			_ = o.Set("mode", d.mode)
			list[i] = o
		}
		return e.VM.NewArray(list...)
	}
	return e.VM.ToValue(r)
}

type (
	absent struct{}
	field  struct {
		name  string
		value float64
	}
	stat   []field
	dirent struct {
		name, parent string
		mode         uint32
	}
)

func str(a []any, i int) string {
	s, _ := a[i].(string)
	return s
}

func flag(a []any, i int) bool {
	b, _ := a[i].(bool)
	return b
}

func num(a []any, i int) int64 {
	switch n := a[i].(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

func bytesAt(a []any, i int) []byte {
	b, _ := a[i].([]byte)
	return b
}

// at makes a path absolute: the folder of the session is the current one.
func (t *files) at(path string) string {
	if path == "" || filepath.IsAbs(path) || t.cwd == "" {
		return path
	}
	p := filepath.Join(t.cwd, path)
	if strings.HasSuffix(path, "/") {
		p += "/"
	}
	return p
}

func (t *files) get(a any) (*os.File, bool) {
	var fd int64
	switch n := a.(type) {
	case int64:
		fd = n
	case float64:
		fd = int64(n)
	default:
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.m[int(fd)]
	return f, ok
}

func (t *files) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.m {
		f.Close()
	}
	clear(t.m)
}

func isNumber(a any) bool {
	switch a.(type) {
	case int64, float64:
		return true
	}
	return false
}

// do carries out an operation. It may run on any goroutine.
func (t *files) do(op string, a []any) (any, error) {
	path, dest := "", ""
	if len(a) > 0 {
		path, _ = a[0].(string)
	}
	switch op {
	case "rename", "copyFile", "cp", "link":
		dest = str(a, 1)
	case "symlink":
		path, dest = str(a, 1), ""
	}
	r, err := t.run(op, a)
	return r, nodeError(err, syscallName(op), path, dest)
}

func syscallName(op string) string {
	switch op {
	case "readFile", "writeFile", "appendFile", "open":
		return "open"
	case "readdir":
		return "scandir"
	case "copyFile":
		return "copyfile"
	case "utimes":
		return "utime"
	case "truncate":
		return "open"
	}
	return op
}

func (t *files) run(op string, a []any) (any, error) {
	switch op {
	case "readFile":
		return t.readFile(a)
	case "writeFile", "appendFile":
		return nil, t.writeFile(a)
	case "stat", "lstat":
		look := os.Stat
		if op == "lstat" {
			look = os.Lstat
		}
		info, err := look(t.at(str(a, 0)))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && !flag(a, 1) {
				return absent{}, nil
			}
			return nil, err
		}
		return statOf(info), nil
	case "readdir":
		return readdir(t.at(str(a, 0)), flag(a, 1))
	case "mkdir":
		return mkdir(t.at(str(a, 0)), flag(a, 1), fs.FileMode(num(a, 2)))
	case "mkdtemp":
		p := t.at(str(a, 0))
		return os.MkdirTemp(filepath.Dir(p+"x"), filepath.Base(p + "x")[:len(filepath.Base(p+"x"))-1]+"*")
	case "rm":
		return nil, remove(t.at(str(a, 0)), flag(a, 1), flag(a, 2))
	case "rmdir":
		if flag(a, 1) {
			return nil, os.RemoveAll(t.at(str(a, 0)))
		}
		return nil, syscall.Rmdir(t.at(str(a, 0)))
	case "unlink":
		return nil, syscall.Unlink(t.at(str(a, 0)))
	case "rename":
		return nil, os.Rename(t.at(str(a, 0)), t.at(str(a, 1)))
	case "copyFile":
		return nil, copyFile(t.at(str(a, 0)), t.at(str(a, 1)), flag(a, 2))
	case "cp":
		return nil, t.copyTree(t.at(str(a, 0)), t.at(str(a, 1)), flag(a, 2), flag(a, 3), flag(a, 4), 0)
	case "access":
		return nil, syscall.Access(t.at(str(a, 0)), uint32(num(a, 1)))
	case "realpath":
		p, err := filepath.EvalSymlinks(t.at(str(a, 0)))
		if err != nil {
			return nil, err
		}
		return filepath.Abs(p)
	case "readlink":
		return os.Readlink(t.at(str(a, 0)))
	case "symlink":
		return nil, os.Symlink(str(a, 0), t.at(str(a, 1)))
	case "link":
		return nil, os.Link(t.at(str(a, 0)), t.at(str(a, 1)))
	case "chmod":
		return nil, syscall.Chmod(t.at(str(a, 0)), uint32(num(a, 1)))
	case "utimes":
		return nil, os.Chtimes(t.at(str(a, 0)), milli(a[1]), milli(a[2]))
	case "truncate":
		return nil, os.Truncate(t.at(str(a, 0)), num(a, 1))
	case "open":
		return t.open(str(a, 0), a[1], fs.FileMode(num(a, 2)))
	}
	f, ok := t.get(a[0])
	if !ok {
		return nil, syscall.EBADF
	}
	switch op {
	case "close":
		t.mu.Lock()
		delete(t.m, int(num(a, 0)))
		t.mu.Unlock()
		return nil, f.Close()
	case "fsync":
		return nil, f.Sync()
	case "fstat":
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return statOf(info), nil
	case "ftruncate":
		return nil, f.Truncate(num(a, 1))
	case "read":
		return read(f, num(a, 1), num(a, 2))
	case "write":
		if at := num(a, 2); at >= 0 {
			return f.WriteAt(bytesAt(a, 1), at)
		}
		return f.Write(bytesAt(a, 1))
	}
	return nil, fmt.Errorf("fs.%s is not provided by Scorel", op)
}

func read(f *os.File, n, at int64) (any, error) {
	if n < 0 || n > maxRead {
		n = maxRead
	}
	b := make([]byte, n)
	var k int
	var err error
	if at >= 0 {
		k, err = f.ReadAt(b, at)
	} else {
		k, err = f.Read(b)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:k:k], err
}

func (t *files) readFile(a []any) (any, error) {
	if isNumber(a[0]) {
		f, ok := t.get(a[0])
		if !ok {
			return nil, syscall.EBADF
		}
		return limited(f)
	}
	f, err := os.Open(t.at(str(a, 0)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &sysError{code: "EISDIR", errno: int(syscall.EISDIR), syscall: "read", text: "illegal operation on a directory"}
	}
	return limited(f)
}

func limited(f *os.File) (any, error) {
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(b) > maxFile {
		return nil, fmt.Errorf("the file is larger than 256 MiB; read it piece by piece, with createReadStream")
	}
	return b, err
}

func (t *files) writeFile(a []any) error {
	if isNumber(a[0]) {
		f, ok := t.get(a[0])
		if !ok {
			return syscall.EBADF
		}
		_, err := f.Write(bytesAt(a, 1))
		return err
	}
	flags, err := openFlags(a[2])
	if err != nil {
		return err
	}
	f, err := os.OpenFile(t.at(str(a, 0)), flags, fs.FileMode(num(a, 3)))
	if err != nil {
		return err
	}
	_, err = f.Write(bytesAt(a, 1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func openFlags(v any) (int, error) {
	if isNumber(v) {
		return int(num([]any{v}, 0)), nil
	}
	s, _ := v.(string)
	switch strings.ReplaceAll(s, "s", "") {
	case "r":
		return os.O_RDONLY, nil
	case "r+":
		return os.O_RDWR, nil
	case "w":
		return os.O_WRONLY | os.O_CREATE | os.O_TRUNC, nil
	case "wx", "xw":
		return os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_EXCL, nil
	case "w+":
		return os.O_RDWR | os.O_CREATE | os.O_TRUNC, nil
	case "wx+", "xw+":
		return os.O_RDWR | os.O_CREATE | os.O_TRUNC | os.O_EXCL, nil
	case "a":
		return os.O_WRONLY | os.O_CREATE | os.O_APPEND, nil
	case "ax", "xa":
		return os.O_WRONLY | os.O_CREATE | os.O_APPEND | os.O_EXCL, nil
	case "a+":
		return os.O_RDWR | os.O_CREATE | os.O_APPEND, nil
	case "ax+", "xa+":
		return os.O_RDWR | os.O_CREATE | os.O_APPEND | os.O_EXCL, nil
	}
	return 0, fmt.Errorf("there is no flag %q for files", s)
}

func (t *files) open(path string, flags any, mode fs.FileMode) (any, error) {
	fl, err := openFlags(flags)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	full := len(t.m) >= maxOpen
	t.mu.Unlock()
	if full {
		return nil, syscall.EMFILE
	}
	f, err := os.OpenFile(t.at(path), fl, mode)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	t.m[t.next] = f
	return t.next, nil
}

func milli(v any) time.Time {
	switch n := v.(type) {
	case int64:
		return time.UnixMilli(n)
	case float64:
		return time.UnixMicro(int64(n * 1000))
	}
	return time.Time{}
}

func statOf(info fs.FileInfo) stat {
	ms := func(t time.Time) float64 { return float64(t.UnixNano()) / 1e6 }
	s := stat{{"size", float64(info.Size())}, {"mtimeMs", ms(info.ModTime())}}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return append(s, field{"mode", float64(nodeMode(info.Mode()))})
	}
	access, change := times(sys)
	return append(s, field{"mode", float64(sys.Mode)}, field{"dev", float64(sys.Dev)}, field{"ino", float64(sys.Ino)}, field{"nlink", float64(sys.Nlink)},
		field{"uid", float64(sys.Uid)}, field{"gid", float64(sys.Gid)}, field{"blocks", float64(sys.Blocks)}, field{"blksize", float64(sys.Blksize)},
		field{"atimeMs", ms(access)}, field{"ctimeMs", ms(change)}, field{"birthtimeMs", ms(change)})
}

// nodeMode returns the type bits of a mode as stat(2) has them.
func nodeMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	switch m.Type() {
	case fs.ModeDir:
		return bits | syscall.S_IFDIR
	case fs.ModeSymlink:
		return bits | syscall.S_IFLNK
	case fs.ModeNamedPipe:
		return bits | syscall.S_IFIFO
	case fs.ModeSocket:
		return bits | syscall.S_IFSOCK
	case fs.ModeDevice:
		return bits | syscall.S_IFBLK
	case fs.ModeDevice | fs.ModeCharDevice:
		return bits | syscall.S_IFCHR
	}
	return bits | syscall.S_IFREG
}

func readdir(path string, recursive bool) (any, error) {
	var all []dirent
	var walk func(dir, parent string) error
	walk = func(dir, parent string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, d := range entries {
			if len(all) >= maxEntries {
				return fmt.Errorf("the folder has more than 200,000 entries")
			}
			all = append(all, dirent{d.Name(), parent, nodeMode(d.Type())})
			if recursive && d.IsDir() {
				if err := walk(filepath.Join(dir, d.Name()), strings.TrimPrefix(parent+"/"+d.Name(), "/")); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(path, ""); err != nil {
		return nil, err
	}
	return all, nil
}

// mkdir returns the first folder that it made of a recursive call, "" for none.
func mkdir(path string, recursive bool, mode fs.FileMode) (any, error) {
	if !recursive {
		return "", os.Mkdir(path, mode)
	}
	first := ""
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		if _, err := os.Lstat(p); err == nil {
			break
		}
		first = p
		if p == filepath.Dir(p) {
			break
		}
	}
	return first, os.MkdirAll(path, mode)
}

func remove(path string, recursive, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist) && force:
		return nil
	case err != nil:
		return err
	case info.IsDir() && !recursive:
		return &sysError{code: "ERR_FS_EISDIR", errno: int(syscall.EISDIR), syscall: "rm", path: path, text: "path is a directory"}
	}
	return os.RemoveAll(path)
}

func copyFile(from, to string, exclusive bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if exclusive {
		flags |= os.O_EXCL
	}
	if there, err := os.Stat(to); err == nil && os.SameFile(there, info) {
		return nil // truncating it would lose it
	}
	out, err := os.OpenFile(to, flags, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

// maxCopyDepth bounds nested folders of cp.
const maxCopyDepth = 200

func (t *files) copyTree(from, to string, recursive, force, errorOnExist bool, depth int) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if depth > maxCopyDepth {
		return fmt.Errorf("folders are nested more than %d deep", maxCopyDepth)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if force {
			_ = os.Remove(to)
		}
		return os.Symlink(target, to)
	case !info.IsDir():
		if _, err := os.Lstat(to); err == nil && !force {
			if errorOnExist {
				return syscall.EEXIST
			}
			return nil
		}
		return copyFile(from, to, false)
	case !recursive:
		return &sysError{code: "ERR_FS_EISDIR", errno: int(syscall.EISDIR), syscall: "cp", path: from, text: "recursive option not enabled, cannot copy a directory"}
	}
	if rel, err := filepath.Rel(from, to); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return fmt.Errorf("cannot copy %s into itself", from)
	}
	if err := os.MkdirAll(to, info.Mode().Perm()); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, d := range entries {
		if err := t.copyTree(filepath.Join(from, d.Name()), filepath.Join(to, d.Name()), true, force, errorOnExist, depth+1); err != nil {
			return err
		}
	}
	return nil
}
