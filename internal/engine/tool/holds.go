package tool

import (
	"io/fs"
	"os"
	"path/filepath"
)

// maxHeld is how many files and folders are looked at for a command that reads a folder
// with all that is below it, so that rules about files can be compared with each.
const maxHeld = 50_000

// holdsCovered returns the first file in dir or below it that is covered, "" when there is
// none, and whether all of it was looked at. What lies in a .git folder is left out.
func holdsCovered(dir string, covered func(abs string) bool) (file string, all bool) {
	return holdsCoveredOf(dir, maxHeld, covered)
}

// holdsCoveredOf is holdsCovered of so many files and folders.
func holdsCoveredOf(dir string, most int, covered func(abs string) bool) (file string, all bool) {
	seen, all := 0, true
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > most {
			all = false
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil // what cannot be read is not read by a command either
		case e.IsDir() && e.Name() == ".git" && path != dir:
			return fs.SkipDir
		case !e.IsDir() && covered(path):
			file = path
			return fs.SkipAll
		}
		return nil
	})
	return file, all
}

// maxNames is how many names of a folder are looked at for a wildcard of a command.
const maxNames = 20_000

// namesIn returns the names in a folder, and whether these are all; none for what cannot be read.
func namesIn(dir string) (names []string, all bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, true
	}
	defer f.Close()
	names, _ = f.Readdirnames(maxNames)
	return names, len(names) < maxNames
}
