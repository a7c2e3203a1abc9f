package repository

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of what is read of a commit.
const (
	maxPackedRefs = 16 << 20 // bytes of packed-refs
	maxRefDepth   = 5        // references that name references
	maxTree       = 16 << 20 // bytes of a folder of a commit
)

// ErrNoHead says that a repository has no commit yet, or one that cannot be read without
// Git: its objects lie elsewhere, or have a format that this package does not know.
var ErrNoHead = errors.New("the last commit cannot be read")

// Head is the commit that is checked out in a working tree.
type Head struct {
	Top     string // the folder of the working tree
	tree    string // the object of its folder
	objects *objects
}

// OpenHead returns the commit that is checked out in the working tree around dir, an absolute
// folder without links. Nothing of the repository runs. Without one, and where it cannot be
// read, the error is [ErrNoHead]. The caller closes it; it is for one goroutine.
func OpenHead(dir string) (*Head, error) {
	found, err := Discover(dir, nil)
	if err != nil || found.Dir == "" || found.Bare() {
		return nil, ErrNoHead
	}
	own, common := found.Dir, found.Dir
	if file := filepath.Join(found.Top, ".git"); !isFolder(file) {
		if own, common = Linked(found.Top, file); own == "" {
			return nil, ErrNoHead
		}
	}
	o := &objects{dir: filepath.Join(common, "objects")}
	h := &Head{Top: found.Top, objects: o}
	commit, err := resolveRef(own, common, "HEAD", 0)
	if err == nil {
		h.tree, err = o.treeOf(commit)
	}
	if err != nil {
		o.close()
		return nil, fmt.Errorf("%w: %w", ErrNoHead, err)
	}
	return h, nil
}

// Close releases the files of the repository.
func (h *Head) Close() { h.objects.close() }

// File returns a file of the commit; rel is its path in the working tree, with slashes. There
// is false when the commit has no file of that name. A file of more than limit bytes is an
// error.
func (h *Head) File(rel string, limit int64) (data []byte, there bool, err error) {
	at := h.tree
	names := strings.Split(rel, "/")
	for i, name := range names {
		kind, tree, err := h.objects.read(at, maxTree, 0)
		if err != nil {
			return nil, false, err
		}
		if kind != "tree" {
			return nil, false, nil
		}
		mode, sha, ok := entryOf(tree, name)
		if last := i == len(names)-1; !ok || last != (mode == "100644" || mode == "100755") {
			return nil, false, nil // a folder, a link, another repository
		}
		at = sha
	}
	kind, data, err := h.objects.read(at, limit, 0)
	if err == nil && kind != "blob" {
		err = fmt.Errorf("object %s is a %s", at, kind)
	}
	return data, err == nil, err
}

// entryOf finds a name in the data of a tree.
func entryOf(tree []byte, name string) (mode, sha string, ok bool) {
	for len(tree) > 0 {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		if !ok || len(rest) < shaSize {
			return "", "", false
		}
		m, n, _ := bytes.Cut(head, []byte(" "))
		if string(n) == name {
			return string(m), fmt.Sprintf("%x", rest[:shaSize]), true
		}
		tree = rest[shaSize:]
	}
	return "", "", false
}

// resolveRef returns the object that a reference names.
func resolveRef(own, common, name string, depth int) (string, error) {
	if depth > maxRefDepth {
		return "", errors.New("references name each other")
	}
	line := FirstLine(filepath.Join(own, name))
	if line == "" && own != common {
		line = FirstLine(filepath.Join(common, name))
	}
	if to, ok := strings.CutPrefix(line, "ref: "); ok {
		if !strings.HasPrefix(to, "refs/") || !filepath.IsLocal(to) {
			return "", fmt.Errorf("reference %.100q", to)
		}
		return resolveRef(own, common, to, depth+1)
	}
	if isSHA(line) {
		return line, nil
	}
	data, err := ReadSmall(filepath.Join(common, "packed-refs"), maxPackedRefs)
	if err != nil {
		return "", fmt.Errorf("no commit at %.100s", name)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if sha, n, ok := strings.Cut(lines.Text(), " "); ok && n == name && isSHA(sha) {
			return sha, nil
		}
	}
	return "", fmt.Errorf("no commit at %.100s", name)
}

func isSHA(s string) bool {
	return len(s) == 2*shaSize && strings.Trim(s, "0123456789abcdef") == ""
}

// openPart opens a file of the objects; it may not be a link.
func openPart(name string) (*os.File, int64, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
