package repository

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxUpward is how many folders [Discover] looks at; a path of Linux has at most 4,096
// bytes.
const maxUpward = 2048

// Found is the repository that Git would use in a folder. The zero value says that
// there is none.
type Found struct {
	// Dir is the repository's own folder, absolute and without symlinks.
	Dir string
	// Top is the folder in which it was found: that of its .git, or Dir itself where
	// Git takes the folder for a bare repository. It is "" when GIT_DIR names Dir.
	Top string
}

// Bare reports whether the folder itself was taken for the repository.
func (f Found) Bare() bool { return f.Top == f.Dir }

// Discover returns the repository that Git would use in dir, an absolute folder, with
// the environment env (setup.c of Git 2.39 to 2.51): from the real folder upward, in
// each first a .git, then the folder itself; not beyond GIT_CEILING_DIRECTORIES. The
// folders themselves need not exist. Where Git is stricter (owner of the folder, boundaries
// of file systems, a HEAD that it would refuse) a repository is returned that Git would
// not use. An error says why it cannot be told.
func Discover(dir string, env []string) (Found, error) {
	if !filepath.IsAbs(dir) {
		return Found{}, fmt.Errorf("%s is not an absolute path", dir)
	}
	dir, err := real(dir)
	if err != nil {
		return Found{}, err
	}
	lookup := func(name string) string {
		value := ""
		for _, entry := range env {
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				value = v
			}
		}
		return value
	}
	if lookup("GIT_COMMON_DIR") != "" {
		return Found{}, errors.New("GIT_COMMON_DIR is set")
	}
	if named := lookup("GIT_DIR"); named != "" {
		return explicit(dir, named)
	}
	boundary := ceiling(dir, lookup("GIT_CEILING_DIRECTORIES"))
	objects := lookup("GIT_OBJECT_DIRECTORY") != ""
	for at, n := dir, 0; n < maxUpward; at, n = filepath.Dir(at), n+1 {
		if found, ok, err := look(at, objects); ok || err != nil {
			return found, err
		}
		if at == "/" || filepath.Dir(at) == boundary {
			return Found{}, nil
		}
	}
	return Found{}, fmt.Errorf("%s lies too deep", dir)
}

// look returns the repository whose search ends in the folder at.
func look(at string, objects bool) (Found, bool, error) {
	dot := filepath.Join(at, ".git")
	info, err := os.Stat(dot)
	switch {
	case err == nil && !info.IsDir(): // Git uses it or gives up
		to, ok := strings.CutPrefix(FirstLine(dot), "gitdir: ")
		if !ok {
			return Found{}, false, fmt.Errorf("%s cannot be read as a .git file", dot)
		}
		dir, err := filepath.EvalSymlinks(from(at, to))
		if err != nil {
			return Found{}, false, fmt.Errorf("%s names a repository that cannot be read", dot)
		}
		return Found{Dir: dir, Top: at}, true, nil
	case err == nil && mayBe(dot, objects):
		dir, err := filepath.EvalSymlinks(dot)
		if err != nil {
			return Found{}, false, err
		}
		return Found{Dir: dir, Top: at}, true, nil
	case err != nil && exists(dot):
		return Found{}, false, fmt.Errorf("%s cannot be read", dot)
	}
	if mayBe(at, objects) {
		return Found{Dir: at, Top: at}, true, nil
	}
	return Found{}, false, nil
}

// mayBe reports whether Git could take a folder for a repository: it has a HEAD, and
// refs and objects, or a commondir that leads to them.
func mayBe(dir string, objects bool) bool {
	if !exists(filepath.Join(dir, "HEAD")) {
		return false
	}
	return objects || exists(filepath.Join(dir, "commondir")) || exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// explicit returns the repository that GIT_DIR names, which may be a .git file.
func explicit(dir, named string) (Found, error) {
	path := from(dir, named)
	if to, ok := strings.CutPrefix(FirstLine(path), "gitdir: "); ok {
		path = from(filepath.Dir(path), to)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Found{}, fmt.Errorf("GIT_DIR is %s, which cannot be read", named)
	}
	return Found{Dir: path}, nil
}

// ceiling returns the deepest folder above dir that GIT_CEILING_DIRECTORIES names, ""
// for none. Links in the names are followed up to an empty entry.
func ceiling(dir, list string) string {
	deepest, follow := "", true
	for _, name := range filepath.SplitList(list) {
		if name == "" {
			follow = false
			continue
		}
		if !filepath.IsAbs(name) {
			continue
		}
		if name = filepath.Clean(name); follow {
			if to, err := filepath.EvalSymlinks(name); err == nil {
				name = to
			}
		}
		if name != dir && within(dir, name) && len(name) > len(deepest) {
			deepest = name
		}
	}
	return deepest
}

// real follows the links of a path as far as it exists.
func real(path string) (string, error) {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		to, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(to, rest), nil
		}
		if exists(at) || at == "/" {
			return "", fmt.Errorf("%s cannot be resolved", at)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
