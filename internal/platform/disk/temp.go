package disk

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// TempMark is in the name of every temporary file, between the name that the
// file is to get and a random ending.
const TempMark = ".tmp-"

// Temp makes a new file beside name, to be renamed to it. The caller closes the
// file and renames or removes it.
func Temp(fsys FS, name string) (File, string, error) {
	for {
		tmp := name + TempMark + RandomName()
		f, err := fsys.Open(tmp, Exclusive)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, tmp, err
	}
}

// RandomName returns ten characters that no other name has.
func RandomName() string { return rand.Text()[:10] }

// IsTemp reports whether name is that of a temporary file.
func IsTemp(name string) bool { return strings.Contains(filepath.Base(name), TempMark) }
