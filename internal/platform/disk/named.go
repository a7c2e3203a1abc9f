package disk

import (
	"errors"
	"io/fs"
	"os"
)

// Names says what a name stands for while a file is open.
type Names int

// What a name may stand for.
const (
	NamesIt      Names = iota // the file that is open, or nobody can tell
	NamesNothing              // it was removed or moved away
	NamesAnother              // another file was put there
)

// NameOf says what name stands for, under which f was opened. It costs a look at the folder,
// and tells only of files of [OS].
func NameOf(name string, f File) Names {
	own, ok := f.(osFile)
	if !ok {
		return NamesIt
	}
	open, err := own.f.Stat()
	if err != nil {
		return NamesIt
	}
	switch there, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return NamesNothing
	case err != nil || os.SameFile(open, there):
		return NamesIt
	}
	return NamesAnother
}
