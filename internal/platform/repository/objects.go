package repository

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // the names that Git has
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	shaSize = sha1.Size

	maxPacks  = 200     // pack files that are looked into
	maxDeltas = 100     // differences behind an object; Git makes at most 50
	maxCommit = 1 << 20 // bytes of a commit
)

// objects reads the objects of a repository (gitformat-pack(5), version 2): loose ones and
// packs, as far as they lie in its own folder. A command may have written them, so every
// number in them is checked before it is used, and each object by its name.
type objects struct {
	dir   string
	packs []*pack
	known bool // packs are opened
}

// pack is a pack file with its index.
type pack struct {
	index, data         *os.File
	indexSize, dataSize int64
	count               int64
}

var errNoObject = errors.New("there is no such object")

func (o *objects) close() {
	for _, p := range o.packs {
		p.index.Close()
		p.data.Close()
	}
}

// treeOf returns the tree of a commit.
func (o *objects) treeOf(commit string) (string, error) {
	kind, data, err := o.read(commit, maxCommit, 0)
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	tree, ok := strings.CutPrefix(string(line), "tree ")
	if kind != "commit" || !ok || !isSHA(tree) {
		return "", fmt.Errorf("object %s is not a commit", commit)
	}
	return tree, nil
}

// read returns an object of at most limit bytes, and checks its name.
func (o *objects) read(sha string, limit int64, depth int) (kind string, data []byte, err error) {
	if kind, data, err = o.loose(sha, limit); errors.Is(err, os.ErrNotExist) {
		kind, data, err = o.packed(sha, limit, depth)
	}
	if err != nil {
		return "", nil, fmt.Errorf("object %s: %w", sha, err)
	}
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	if hex.EncodeToString(h.Sum(nil)) != sha {
		return "", nil, fmt.Errorf("object %s is damaged", sha)
	}
	return kind, data, nil
}

// loose reads an object that has a file of its own.
func (o *objects) loose(sha string, limit int64) (string, []byte, error) {
	f, _, err := openPart(filepath.Join(o.dir, sha[:2], sha[2:]))
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return "", nil, err
	}
	r := bufio.NewReaderSize(z, 512)
	head, err := r.ReadSlice(0)
	if err != nil {
		return "", nil, errors.New("its head is damaged")
	}
	kind, digits, _ := strings.Cut(strings.TrimSuffix(string(head), "\x00"), " ")
	size, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return "", nil, errors.New("its head is damaged")
	}
	data, err := exactly(r, size, limit)
	return kind, data, err
}

// exactly reads size bytes, which may not be more than limit.
func exactly(r io.Reader, size, limit int64) ([]byte, error) {
	if size < 0 || size > limit {
		return nil, fmt.Errorf("it has %d bytes, more than %d", size, limit)
	}
	data, err := io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != size {
		return nil, errors.New("it has another size than it says")
	}
	return data, nil
}

// open opens the packs, once.
func (o *objects) open() {
	if o.known {
		return
	}
	o.known = true
	names, _ := filepath.Glob(filepath.Join(escapeGlob(o.dir), "pack", "*.idx"))
	for _, name := range names[:min(len(names), maxPacks)] {
		p := &pack{}
		var err error
		if p.index, p.indexSize, err = openPart(name); err != nil {
			continue
		}
		if p.data, p.dataSize, err = openPart(strings.TrimSuffix(name, ".idx") + ".pack"); err != nil {
			p.index.Close()
			continue
		}
		head := make([]byte, 8)
		if n, ok := p.number(8 + 255*4); ok && p.at(p.index, head, 0) && bytes.Equal(head, []byte("\xfftOc\x00\x00\x00\x02")) &&
			8+1024+int64(n)*(shaSize+8) <= p.indexSize {
			p.count = int64(n)
			o.packs = append(o.packs, p)
			continue
		}
		p.index.Close()
		p.data.Close()
	}
}

func (*pack) at(f *os.File, b []byte, off int64) bool {
	_, err := f.ReadAt(b, off)
	return err == nil
}

// number reads four bytes of the index.
func (p *pack) number(off int64) (uint32, bool) {
	var b [4]byte
	ok := p.at(p.index, b[:], off)
	return binary.BigEndian.Uint32(b[:]), ok
}

// find returns where an object is in the pack, -1 when it is not.
func (p *pack) find(sha []byte) int64 {
	names := int64(8 + 1024)
	low, high := int64(0), p.count
	for low < high {
		mid := (low + high) / 2
		var b [shaSize]byte
		if !p.at(p.index, b[:], names+mid*shaSize) {
			return -1
		}
		switch c := bytes.Compare(b[:], sha); {
		case c < 0:
			low = mid + 1
		case c > 0:
			high = mid
		default:
			return p.offset(mid)
		}
	}
	return -1
}

// offset returns where the n-th object of the index is.
func (p *pack) offset(n int64) int64 {
	small := 8 + 1024 + p.count*(shaSize+4)
	off, ok := p.number(small + n*4)
	if !ok {
		return -1
	}
	if off < 1<<31 {
		return int64(off)
	}
	var b [8]byte
	if !p.at(p.index, b[:], small+p.count*4+int64(off&(1<<31-1))*8) {
		return -1
	}
	return int64(binary.BigEndian.Uint64(b[:]) & (1<<63 - 1))
}

// packed reads an object of a pack.
func (o *objects) packed(sha string, limit int64, depth int) (string, []byte, error) {
	o.open()
	name, err := hex.DecodeString(sha)
	if err != nil {
		return "", nil, err
	}
	for _, p := range o.packs {
		if off := p.find(name); off >= 0 {
			return o.entry(p, off, limit, depth)
		}
	}
	return "", nil, errNoObject
}

// Kinds of the entries of a pack.
var entryKinds = []string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

const (
	deltaByOffset = 6
	deltaByName   = 7
)

// entry reads what is in a pack at an offset; depth is how many differences led to it.
func (o *objects) entry(p *pack, off, limit int64, depth int) (string, []byte, error) {
	if depth > maxDeltas || off < 12 || off >= p.dataSize {
		return "", nil, errors.New("the pack is damaged")
	}
	r := bufio.NewReader(io.NewSectionReader(p.data, off, p.dataSize-off))
	c, err := r.ReadByte()
	if err != nil {
		return "", nil, err
	}
	kind, size := int(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = r.ReadByte(); err != nil || shift > 46 {
			return "", nil, errors.New("the pack is damaged")
		}
		size |= int64(c&0x7f) << shift
	}
	var baseKind string
	var base []byte
	switch {
	case kind == deltaByOffset:
		back, ok := backwards(r)
		if !ok || back >= off {
			return "", nil, errors.New("the pack is damaged")
		}
		baseKind, base, err = o.entry(p, off-back, limit, depth+1)
	case kind == deltaByName:
		var b [shaSize]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", nil, err
		}
		baseKind, base, err = o.read(hex.EncodeToString(b[:]), limit, depth+1)
	case kind < 1 || kind >= len(entryKinds):
		err = errors.New("the pack is damaged")
	}
	if err != nil {
		return "", nil, err
	}
	z, err := zlib.NewReader(r)
	if err != nil {
		return "", nil, err
	}
	data, err := exactly(z, size, limit)
	if err != nil || baseKind == "" {
		return entryKinds[min(kind, len(entryKinds)-1)], data, err
	}
	data, err = patch(base, data, limit)
	return baseKind, data, err
}

// backwards reads how far before an entry its base is.
func backwards(r io.ByteReader) (int64, bool) {
	n := int64(-1)
	for range 9 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, false
		}
		if n = (n+1)<<7 | int64(c&0x7f); c&0x80 == 0 {
			return n, n > 0
		}
	}
	return 0, false
}

// patch makes an object of its base and a difference: copies of parts of the base, and new
// bytes.
func patch(base, delta []byte, limit int64) ([]byte, error) {
	damaged := errors.New("the pack is damaged")
	from, delta, ok := varint(delta)
	to, delta, ok2 := varint(delta)
	if !ok || !ok2 || from != uint64(len(base)) {
		return nil, damaged
	}
	if to > uint64(limit) {
		return nil, fmt.Errorf("it has %d bytes, more than %d", to, limit)
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 { // new bytes
			if op == 0 || int(op) > len(delta) {
				return nil, damaged
			}
			out, delta = append(out, delta[:op]...), delta[op:]
		} else {
			var n [7]byte // four bytes of the offset, three of the size
			for i := range n {
				if op&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, damaged
				}
				n[i], delta = delta[0], delta[1:]
			}
			at := int(binary.LittleEndian.Uint32(n[:4]))
			size := int(n[4]) | int(n[5])<<8 | int(n[6])<<16
			if size == 0 {
				size = 0x10000
			}
			if at > len(base) || size > len(base)-at {
				return nil, damaged
			}
			out = append(out, base[at:at+size]...)
		}
		if uint64(len(out)) > to {
			return nil, damaged
		}
	}
	if uint64(len(out)) != to {
		return nil, damaged
	}
	return slices.Clip(out), nil
}

// varint reads a number of a difference.
func varint(b []byte) (n uint64, rest []byte, ok bool) {
	for i, c := range b {
		if i > 8 {
			return 0, nil, false
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
