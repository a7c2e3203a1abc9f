package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"time"
)

// AsideMark is in the name of a file that was damaged and set aside, between its name and
// the time.
const AsideMark = ".damaged-"

// SetAside renames a damaged file, so that another can be written in its place and nothing
// is lost, and returns its name then. It overwrites nothing.
func SetAside(fsys FS, name string, now time.Time) (aside string, err error) {
	aside = name + AsideMark + now.UTC().Format("20060102T150405.000")
	if _, err := fsys.Stat(aside); !errors.Is(err, fs.ErrNotExist) {
		aside += "-" + RandomName()
	}
	return aside, fsys.Rename(name, aside)
}

// IsAside reports whether a name is one that [SetAside] has given.
func IsAside(name string) bool { return strings.Contains(name, AsideMark) }

// Blank reports whether the content of a file of JSON says nothing: it is empty, white space
// or null. Whoever writes its files whole never writes such a one, so it is damaged. A file
// that is missing has the content nil, and is not blank.
func Blank(data []byte) bool {
	if data == nil {
		return false
	}
	data = bytes.TrimSpace(data)
	return len(data) == 0 || string(data) == "null"
}
