package daemon

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"runtime"
)

// maxBuildHead bounds what is read of a program to know its build, in bytes: the linker
// writes its id near the beginning.
const maxBuildHead = 64 << 10

// Build names what this process runs: another build of the same version has another
// name. It is "" where that is not known.
func Build() string {
	if runtime.GOOS == "linux" {
		return buildOf("/proc/self/exe") // also when the file was replaced since
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return buildOf(path)
}

// buildOf returns the build id that Go's linker wrote into a program: a note of an ELF
// file, else a text.
func buildOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxBuildHead))
	if err != nil {
		return ""
	}
	const name = "\x04\x00\x00\x00Go\x00\x00" // the type of the note, and whose it is
	if i := bytes.Index(head, []byte(name)); i >= 8 {
		size := uint64(binary.NativeEndian.Uint32(head[i-4:]))
		if id := head[i+len(name):]; size <= uint64(len(id)) {
			return short(id[:size])
		}
	}
	_, rest, ok := bytes.Cut(head, []byte("\xff Go build ID: \""))
	id, _, closed := bytes.Cut(rest, []byte{'"'})
	if !ok || !closed {
		return ""
	}
	return short(id)
}

// short returns the last part of a build id, which is that of the content.
func short(id []byte) string {
	id = id[bytes.LastIndexByte(id, '/')+1:]
	for _, c := range id {
		if c < ' ' || c > '~' {
			return hex.EncodeToString(id)
		}
	}
	return string(id)
}
