package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Names says what a name stands for while a file is open.
type Names int

// What a name may stand for.
const (
	NamesIt      Names = iota // the file that is open, or nobody can tell
	NamesNothing              // it was removed or moved away
	NamesAnother              // another file was put there
)

// NameOf says what name stands for, under which f was opened, and when f was last changed. It
// costs a look at the folder, and tells only of files of [OS]: the time is zero for others.
func NameOf(name string, f File) (Names, time.Time) {
	own, ok := f.(osFile)
	if !ok {
		return NamesIt, time.Time{}
	}
	return namesOf(name, own.f)
}

func namesOf(name string, f *os.File) (Names, time.Time) {
	open, err := f.Stat()
	if err != nil {
		return NamesIt, time.Time{}
	}
	switch there, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return NamesNothing, open.ModTime()
	case err != nil || os.SameFile(open, there):
		return NamesIt, open.ModTime()
	}
	return NamesAnother, open.ModTime()
}
