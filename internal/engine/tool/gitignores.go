package tool

import (
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/engine/tool/files"
	"scorel/internal/engine/tool/ignore"
)

// gitIgnores reports whether a folder of the workspace, absolute and without symlinks,
// lies in one that Git ignores by .gitignore files and info/exclude, or in a .git folder.
// Whether something in it is tracked all the same is not looked at.
func gitIgnores(f *files.Files, dir string) bool {
	for _, root := range f.Folders() {
		if !files.Within(dir, root) {
			continue
		}
		level := ignore.Above(root)
		at, rest := root, strings.TrimPrefix(strings.TrimPrefix(dir, root), "/")
		for name := range strings.SplitSeq(rest, "/") {
			if name == "" {
				return false
			}
			level = level.Enter(at, func(name string) bool {
				_, err := os.Lstat(filepath.Join(at, name))
				return err == nil
			})
			at = filepath.Join(at, name)
			if name == ".git" || level.JudgeByGit(at, true) == ignore.Ignored {
				return true
			}
		}
		return false
	}
	return false
}
