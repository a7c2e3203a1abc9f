package disktest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/platform/disk"
)

// Crash returns what becomes of writes and names that were not synced.
type Crash string

// The ways to crash.
const (
	Drop    Crash = "drop"    // all of them are gone
	Reorder Crash = "reorder" // each one is kept or gone, by itself
	Half512 Crash = "half512" // of each write only some 512-byte sectors are kept, the rest of its range is NUL
)

// Mem is a file system in memory that knows what is on stable storage. The
// folder "/" exists. The zero value is not usable; see NewMem.
type Mem struct {
	// Now dates changes; set it before use. It counts milliseconds from a fixed
	// day when nil.
	Now func() time.Time

	mu      sync.Mutex
	ticks   int64
	live    map[string]*node
	durable map[string]*node
	names   []nameOp // since the last SyncDir of their folder
	locks   map[string]*memLock
	epoch   int // counts crashes: files opened before one are dead
}

type node struct {
	dir     bool
	data    []byte
	synced  []byte
	pending []dataOp
	mod     time.Time
}

// dataOp is a write, or with data nil a truncation to off.
type dataOp struct {
	off  int64
	data []byte
}

// nameOp sets name to node (nil removes it), and with from also removes that,
// both or neither.
type nameOp struct {
	name, from string
	node       *node
}

// NewMem makes an empty file system.
func NewMem() *Mem {
	root := &node{dir: true}
	return &Mem{live: map[string]*node{"/": root}, durable: map[string]*node{"/": root}, locks: map[string]*memLock{}}
}

func (m *Mem) now() time.Time {
	if m.Now != nil {
		return m.Now()
	}
	m.ticks++
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(m.ticks) * time.Millisecond)
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Open opens a file as disk.FS says.
func (m *Mem) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	n := m.live[name]
	switch {
	case n != nil && n.dir:
		return nil, pathError("open", name, fs.ErrInvalid)
	case n != nil && flag == disk.Exclusive:
		return nil, pathError("open", name, fs.ErrExist)
	case n == nil && flag != disk.Create && flag != disk.Exclusive:
		return nil, pathError("open", name, fs.ErrNotExist)
	case n == nil:
		if d := m.live[filepath.Dir(name)]; d == nil || !d.dir {
			return nil, pathError("open", name, fs.ErrNotExist)
		}
		n = &node{mod: m.now()}
		m.setName(nameOp{name: name, node: n})
	}
	return &memFile{fs: m, node: n, name: name, epoch: m.epoch, readOnly: flag == disk.ReadOnly}, nil
}

func (m *Mem) setName(op nameOp) {
	apply(m.live, op)
	m.names = append(m.names, op)
}

func apply(names map[string]*node, op nameOp) {
	if op.from != "" {
		delete(names, op.from)
	}
	if op.node == nil {
		delete(names, op.name)
		return
	}
	names[op.name] = op.node
}

// Rename moves a file, replacing what is there.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to = filepath.Clean(from), filepath.Clean(to)
	n := m.live[from]
	if n == nil || n.dir {
		return pathError("rename", from, fs.ErrNotExist)
	}
	m.setName(nameOp{name: to, from: from, node: n})
	return nil
}

// Remove removes a file.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	if n := m.live[name]; n == nil || n.dir {
		return pathError("remove", name, fs.ErrNotExist)
	}
	m.setName(nameOp{name: name})
	return nil
}

// Touch sets the time of a file's last change.
func (m *Mem) Touch(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.live[filepath.Clean(name)]
	if n == nil || n.dir {
		return pathError("touch", name, fs.ErrNotExist)
	}
	n.mod = m.now()
	return nil
}

// MkdirAll makes folders; like files, their names are not durable at once.
func (m *Mem) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var missing []string
	for d := filepath.Clean(name); ; d = filepath.Dir(d) {
		if n := m.live[d]; n != nil {
			if !n.dir {
				return pathError("mkdir", d, fs.ErrExist)
			}
			break
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		m.setName(nameOp{name: d, node: &node{dir: true, mod: m.now()}})
	}
	return nil
}

// ReadDir lists a folder in order of names.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	if d := m.live[name]; d == nil || !d.dir {
		return nil, pathError("readdir", name, fs.ErrNotExist)
	}
	var out []fs.DirEntry
	for p, n := range m.live {
		if p != "/" && filepath.Dir(p) == name {
			out = append(out, fs.FileInfoToDirEntry(n.info(p)))
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// Stat describes a file or folder.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	n := m.live[name]
	if n == nil {
		return nil, pathError("stat", name, fs.ErrNotExist)
	}
	return n.info(name), nil
}

// SyncDir makes the names in a folder durable.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	if d := m.live[name]; d == nil || !d.dir {
		return pathError("syncdir", name, fs.ErrNotExist)
	}
	m.names = slices.DeleteFunc(m.names, func(op nameOp) bool {
		here := filepath.Dir(op.name) == name
		if here {
			apply(m.durable, op)
		}
		return here
	})
	return nil
}

// Free returns a large number.
func (m *Mem) Free(string) (uint64, error) { return 1 << 40, nil }

// Crash loses what was not synced, in the given way, and starts again: files
// opened before fail with fs.ErrClosed and locks are free. The same seed loses
// the same.
func (m *Mem) Crash(how Crash, seed uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := rand.New(rand.NewPCG(seed, seed))
	keep := func() bool { return how != Drop && r.IntN(2) == 0 }
	seen := map[*node]bool{}
	for _, names := range []map[string]*node{m.live, m.durable} {
		for _, p := range sortedKeys(names) {
			if n := names[p]; !seen[n] {
				seen[n] = true
				n.crash(how, r, keep)
			}
		}
	}
	for _, op := range m.names {
		if keep() {
			apply(m.durable, op)
		}
	}
	m.names = nil
	m.live = map[string]*node{}
	for _, p := range sortedKeys(m.durable) { // parents sort before what is in them
		if d := m.live[filepath.Dir(p)]; p == "/" || d != nil && d.dir {
			m.live[p] = m.durable[p]
		}
	}
	m.durable = map[string]*node{}
	for p, n := range m.live {
		m.durable[p] = n
	}
	m.locks = map[string]*memLock{}
	m.epoch++
}

func sortedKeys(names map[string]*node) []string {
	keys := make([]string, 0, len(names))
	for p := range names {
		keys = append(keys, p)
	}
	slices.Sort(keys)
	return keys
}

func (n *node) crash(how Crash, r *rand.Rand, keep func() bool) {
	data := n.synced
	for _, op := range n.pending {
		switch {
		case how == Half512 && op.data != nil:
			end := op.off + int64(len(op.data))
			if r.IntN(2) == 0 {
				data = put(data, make([]byte, end-max(op.off, min(end, int64(len(data))))), max(op.off, min(end, int64(len(data)))))
			}
			for lo := op.off; lo < end; {
				hi := min(end, (lo/512+1)*512)
				if keep() {
					data = put(data, op.data[lo-op.off:hi-op.off], lo)
				}
				lo = hi
			}
		case keep():
			data = op.apply(data)
		}
	}
	n.data, n.synced, n.pending = bytes.Clone(data), bytes.Clone(data), nil
}

func (op dataOp) apply(data []byte) []byte {
	if op.data != nil {
		return put(data, op.data, op.off)
	}
	if op.off <= int64(len(data)) {
		return slices.Clone(data[:op.off])
	}
	return put(data, nil, op.off)
}

// put writes p at off into a copy-on-grow of data, with NULs in a hole.
func put(data, p []byte, off int64) []byte {
	out := bytes.Clone(data)
	if end := off + int64(len(p)); end > int64(len(out)) {
		out = append(out, make([]byte, end-int64(len(out)))...)
	}
	copy(out[off:], p)
	return out
}

// Bytes returns the content of a file as a reader sees it now, nil when there is
// none.
func (m *Mem) Bytes(name string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.live[filepath.Clean(name)]; n != nil {
		return bytes.Clone(n.data)
	}
	return nil
}

// Put sets the content of a file, durable at once, with its folders.
func (m *Mem) Put(name string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	for d := filepath.Dir(name); ; d = filepath.Dir(d) {
		if m.live[d] == nil {
			m.live[d] = &node{dir: true}
		}
		m.durable[d] = m.live[d]
		if d == "/" {
			break
		}
	}
	n := &node{data: bytes.Clone(data), synced: bytes.Clone(data), mod: m.now()}
	m.live[name], m.durable[name] = n, n
	m.names = slices.DeleteFunc(m.names, func(op nameOp) bool { return op.name == name })
}

type memInfo struct {
	name string
	size int64
	mod  time.Time
	dir  bool
}

func (n *node) info(name string) memInfo {
	return memInfo{filepath.Base(name), int64(len(n.data)), n.mod, n.dir}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) ModTime() time.Time { return i.mod }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) Sys() any           { return nil }
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

type memFile struct {
	fs       *Mem
	node     *node
	name     string
	epoch    int
	readOnly bool
	closed   bool
}

// use locks the file system when the file may be used.
func (f *memFile) use(op string) error {
	f.fs.mu.Lock()
	if f.closed || f.epoch != f.fs.epoch {
		f.fs.mu.Unlock()
		return pathError(op, f.name, fs.ErrClosed)
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.use("read"); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	if off < 0 {
		return 0, pathError("read", f.name, fs.ErrInvalid)
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.use("write"); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	if f.readOnly || off < 0 {
		return 0, pathError("write", f.name, fs.ErrPermission)
	}
	if len(p) == 0 {
		return 0, nil
	}
	f.change(dataOp{off: off, data: bytes.Clone(p)})
	return len(p), nil
}

func (f *memFile) change(op dataOp) {
	n := f.node
	if end := op.off + int64(len(op.data)); op.data != nil && end > int64(len(n.data)) && op.off <= int64(len(n.data)) {
		n.data = append(n.data[:op.off], op.data...) // an append: in place, nobody holds data
	} else {
		n.data = op.apply(n.data)
	}
	n.pending = append(n.pending, op)
	n.mod = f.fs.now()
}

func (f *memFile) Truncate(size int64) error {
	if err := f.use("truncate"); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	if f.readOnly || size < 0 {
		return pathError("truncate", f.name, fs.ErrPermission)
	}
	f.change(dataOp{off: size})
	return nil
}

func (f *memFile) Sync() error {
	if err := f.use("sync"); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	f.node.synced, f.node.pending = bytes.Clone(f.node.data), nil
	return nil
}

func (f *memFile) Size() (int64, error) {
	if err := f.use("stat"); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	return int64(len(f.node.data)), nil
}

func (f *memFile) Close() error {
	if err := f.use("close"); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	f.closed = true
	return nil
}

type memLock struct {
	fs    *Mem
	name  string
	owner []byte
}

// Lock takes a lock; its file exists from then on.
func (m *Mem) Lock(name string, owner []byte) (disk.Unlocker, error) {
	f, err := m.Open(name, disk.Create)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	if held := m.locks[name]; held != nil {
		return nil, &disk.LockedError{Name: name, Owner: bytes.Clone(held.owner)}
	}
	l := &memLock{m, name, bytes.Clone(owner)}
	m.locks[name] = l
	return l, nil
}

// Holder returns who holds a lock.
func (m *Mem) Holder(name string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.locks[filepath.Clean(name)]; l != nil {
		return bytes.Clone(l.owner), true, nil
	}
	return nil, false, nil
}

// TakeOver returns a held lock to another owner, as another machine does when this one slept.
func (m *Mem) TakeOver(name string, owner []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	m.locks[name] = &memLock{m, name, bytes.Clone(owner)}
}

// Held reports whether the lock is this one's.
func (l *memLock) Held() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if other := l.fs.locks[l.name]; other != nil && other != l {
		return &disk.LockedError{Name: l.name, Owner: bytes.Clone(other.owner)}
	}
	return nil
}

func (l *memLock) Unlock() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if l.fs.locks[l.name] != l {
		return nil // crashed since
	}
	delete(l.fs.locks, l.name)
	return nil
}

// String lists the files with their sizes, for messages of tests.
func (m *Mem) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s strings.Builder
	for _, p := range sortedKeys(m.live) {
		if n := m.live[p]; !n.dir {
			fmt.Fprintf(&s, "%s %d\n", p, len(n.data))
		}
	}
	return s.String()
}
