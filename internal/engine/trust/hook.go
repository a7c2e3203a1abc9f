package trust

import (
	"fmt"
	"path/filepath"
)

// ChangedHook returns the first file of the project at root that a hook command names by
// path and that is not trusted as it is now, "" when all are. The files are read, so
// that what is said holds for their bytes at this moment.
func (s *Store) ChangedHook(root, command string) (name string, err error) {
	return s.changed(root, KindHook, command)
}

// changed is ChangedHook for commands whose files are items of a kind.
func (s *Store) changed(root string, kind Kind, command string) (name string, err error) {
	p, err := s.open(root)
	if err != nil {
		return "", err
	}
	defer p.root.Close()
	files, ok := (&namer{project: p}).filesIn(command)
	if !ok {
		return "", fmt.Errorf("the command names too many files of %s", root)
	}
	if len(files) == 0 {
		return "", nil
	}
	c, _ := s.load() // a damaged list trusts nothing
	for _, name := range files {
		if p.ours(name) {
			continue
		}
		_, now, err := p.read(name, s.bounds.bytes)
		if err != nil {
			return "", fmt.Errorf("%s: %w", filepath.Join(root, name), err)
		}
		old := c.Folders[root].item(kind, name).file(name)
		if old == nil || old.SHA256 != now.SHA256 || old.Target != now.Target {
			return name, nil
		}
	}
	return "", nil
}
