package rpc

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The shared page says which extension's interpreter runs, so that a host can name,
// and leave out, the one that hangs. The host makes it, both sides map it, and the
// child writes it. It is PageSize bytes, little endian, in words of 8 bytes:
//
//	0  PageMagic
//	1  why the child has ended itself: 0 it has not, 1 its memory limit
//	2  heap of the child in bytes, as of when an interpreter last ran
//	3  0
//	4+2i  1 when the i-th extension that the host has loaded into this child has begun
//	5+2i  CLOCK_MONOTONIC in ns when its interpreter began to run, 0 while it is idle
//
// An interpreter that waits in a native call for another process, for a file or for the
// network is idle. Words are read and written atomically.
const (
	PageSize  = 4096
	PageMagic = 0x3145_4741_504c_5253 // "SRLPAGE1"
	PageSlots = (PageSize/8 - 4) / 2

	// PageMemory is the reason in word 1 of a child that was over its memory limit.
	PageMemory = 1
)

// Page is a mapped page. All methods may be called concurrently, in both processes. A
// nil page takes everything and says that all are idle.
type Page struct {
	words *[PageSize / 8]uint64
	bytes []byte
}

// NewPage makes a page, and the file of it that a child inherits. The caller closes
// both.
func NewPage() (*Page, *os.File, error) {
	f, err := pageFile()
	if err != nil {
		return nil, nil, fmt.Errorf("make the page that is shared with extensions: %w", err)
	}
	var head [8]byte
	binary.LittleEndian.PutUint64(head[:], PageMagic)
	if err = f.Truncate(PageSize); err == nil {
		_, err = f.WriteAt(head[:], 0)
	}
	if err == nil {
		var p *Page
		if p, err = MapPage(f); err == nil {
			return p, f, nil
		}
	}
	f.Close()
	return nil, nil, fmt.Errorf("make the page that is shared with extensions: %w", err)
}

// MapPage maps the page in a file, which can be closed then.
func MapPage(f *os.File) (*Page, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the page that is shared with extensions: %w", err)
	}
	p := &Page{words: (*[PageSize / 8]uint64)(unsafe.Pointer(&b[0])), bytes: b}
	if p.words[0] != PageMagic {
		_ = unix.Munmap(b)
		return nil, fmt.Errorf("map the page that is shared with extensions: it is not one")
	}
	return p, nil
}

// Close unmaps it. Nothing else may be called then.
func (p *Page) Close() {
	if p != nil {
		_ = unix.Munmap(p.bytes)
	}
}

// Busy notes that the i-th extension's interpreter runs since now, or is idle.
func (p *Page) Busy(i int, busy bool) {
	if p == nil || i < 0 || i >= PageSlots {
		return
	}
	at := uint64(0)
	if busy {
		at = uint64(Monotonic())
	}
	atomic.StoreUint64(&p.words[4+2*i], 1)
	atomic.StoreUint64(&p.words[5+2*i], at)
}

// Since says for how long the i-th extension's interpreter has run; 0 when it is idle.
func (p *Page) Since(i int) time.Duration {
	if p == nil || i < 0 || i >= PageSlots {
		return 0
	}
	at := atomic.LoadUint64(&p.words[5+2*i])
	if at == 0 {
		return 0
	}
	return max(time.Duration(Monotonic()-int64(at)), 1)
}

// Running returns the extensions whose interpreters run, or ran when the child ended.
func (p *Page) Running() []int {
	if p == nil {
		return nil
	}
	var all []int
	for i := range PageSlots {
		if atomic.LoadUint64(&p.words[5+2*i]) != 0 {
			all = append(all, i)
		}
	}
	return all
}

// SetHeap and Heap carry the size of the child's heap in bytes.
func (p *Page) SetHeap(n uint64) {
	if p != nil {
		atomic.StoreUint64(&p.words[2], n)
	}
}

// Heap returns what SetHeap has written.
func (p *Page) Heap() uint64 {
	if p == nil {
		return 0
	}
	return atomic.LoadUint64(&p.words[2])
}

// SetReason and Reason carry why the child has ended itself.
func (p *Page) SetReason(n uint64) {
	if p != nil {
		atomic.StoreUint64(&p.words[1], n)
	}
}

// Reason returns what SetReason has written.
func (p *Page) Reason() uint64 {
	if p == nil {
		return 0
	}
	return atomic.LoadUint64(&p.words[1])
}

// Monotonic is CLOCK_MONOTONIC in ns, which is the same in all processes.
func Monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}
