package repository

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

const (
	maxIndex   = 64 << 20     // bytes of an index that is looked through
	maxIndexes = 64           // indexes that are remembered, and shared ones that are looked through
	maxRead    = 4 * maxIndex // bytes of indexes that one look reads
)

// indexes reads the indexes of repositories for one look.
type indexes struct {
	left int64 // bytes that may still be read
}

// gitlinks returns the paths, relative to the working tree, at which the index in dir
// names other repositories: Git runs a status of its own in each. Whole is false when there
// may be more: an index was too large to be read.
func (x *indexes) gitlinks(dir string) (links []string, whole bool) {
	links, whole = x.links(filepath.Join(dir, "index"))
	shared, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "sharedindex.*")) // of a split index
	for _, name := range shared[:min(len(shared), maxIndexes)] {
		more, all := x.links(name)
		links, whole = append(links, more...), whole && all
	}
	return links, whole && len(shared) <= maxIndexes
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// seenIndexes remembers what indexes held that have not changed since: a large one takes
// some milliseconds. mu guards list.
var seenIndexes struct {
	mu   sync.Mutex
	list map[fileMark][]string
}

// fileMark is that of one content of a file, whatever its names: the time of its last change
// cannot be set.
type fileMark struct {
	size, changed int64
	device, inode uint64
}

func markOf(info os.FileInfo) fileMark {
	m := fileMark{size: info.Size(), changed: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		m.changed, m.device, m.inode = ChangeTime(st), uint64(st.Dev), st.Ino
	}
	return m
}

// links returns the gitlinks of one index. One that cannot be read, or is none, has none:
// Git fails at it, too.
func (x *indexes) links(name string) (links []string, whole bool) {
	if to, err := filepath.EvalSymlinks(name); err == nil { // Git follows it, too
		name = to
	}
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, true
	}
	mark := markOf(info)
	seenIndexes.mu.Lock()
	seen, ok := seenIndexes.list[mark]
	seenIndexes.mu.Unlock()
	if ok {
		return seen, true
	}
	if x.left -= info.Size(); x.left < 0 || info.Size() > maxIndex {
		return nil, false
	}
	data, err := ReadSmall(name, maxIndex)
	if err != nil {
		return nil, true
	}
	links, ok = parseIndex(data, 20)
	if !ok {
		links, _ = parseIndex(data, 32)
	}
	links = slices.Clip(links[:min(len(links), maxEntries+1)]) // more than are looked at tell no more
	seenIndexes.mu.Lock()
	defer seenIndexes.mu.Unlock()
	if seenIndexes.list == nil || len(seenIndexes.list) >= maxIndexes {
		seenIndexes.list = map[fileMark][]string{}
	}
	seenIndexes.list[mark] = links
	return links, true
}

// parseIndex reads the entries of an index (gitformat-index(5), versions 2 to 4) and
// returns the paths of those that are other repositories; false when it is none with ids
// of that many bytes. What was read until then is returned all the same.
func parseIndex(data []byte, id int) (links []string, ok bool) {
	const fixed = 40 // bytes before the id
	if len(data) < 12+id || !bytes.HasPrefix(data, []byte("DIRC")) {
		return nil, false
	}
	version, n := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	at, end := 12, len(data)-id
	var path []byte
	for ; n > 0; n-- {
		begin := at
		if at+fixed+id+2 > end {
			return links, false
		}
		mode, flags := binary.BigEndian.Uint32(data[at+24:]), binary.BigEndian.Uint16(data[at+fixed+id:])
		if at += fixed + id + 2; version >= 3 && flags&0x4000 != 0 {
			at += 2
		}
		if version == 4 {
			strip := 0
			for first := true; ; first = false {
				if at >= end {
					return links, false
				}
				c := data[at]
				at++
				if !first {
					strip++
				}
				if strip = strip<<7 | int(c&0x7f); c&0x80 == 0 || strip > len(data) {
					break
				}
			}
			if strip > len(path) {
				return links, false
			}
			path = path[:len(path)-strip]
		} else {
			path = path[:0]
		}
		if at > end {
			return links, false
		}
		length := bytes.IndexByte(data[at:end], 0)
		if length < 0 {
			return links, false
		}
		path = append(path, data[at:at+length]...)
		at += length + 1
		if version < 4 {
			at = begin + (at-1-begin+8)/8*8
		}
		if mode&0o170000 == 0o160000 {
			links = append(links, string(path))
		}
	}
	return links, at <= end
}
