package admin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/host/request"
	"scorel/protocol"
)

// Bounds of a list of folders.
const (
	maxDirectories = 1_000   // in an answer
	maxDirEntries  = 200_000 // names of the folder that are looked at
	dirBatch       = 1_000   // names that are read at once
)

// listDirectories returns the folders in a folder, so that a person can choose one
// for a project without typing its path. Hidden ones are left out, unless the path
// has a name that begins with a dot: /home/me/. shows those of /home/me. A link to a
// folder stands there like a folder, but not beside the folder itself. Scorel's own
// folder is neither listed nor shown.
func (ad *Admin) listDirectories(ctx context.Context, path string) (*protocol.DirectoryList, error) {
	dir, hidden, err := ad.directory(path)
	if err != nil {
		return nil, err
	}
	names, more, err := folders(ctx, dir, hidden)
	if err != nil {
		return nil, directoryError(dir, err)
	}
	known := map[string]protocol.ProjectID{}
	if f, err := ad.settings.Projects(); err == nil { // a damaged list keeps nobody from choosing
		for _, p := range f.Projects {
			known[p.Root] = p.ProjectID
		}
	}
	list := &protocol.DirectoryList{Path: dir, Entries: []protocol.Directory{}, More: more}
	if parent := filepath.Dir(dir); parent != dir {
		list.Parent = parent
	}
	seen := map[string]bool{dir: true}
	for _, e := range names { // what a link leads to is known before the link comes
		if !e.link {
			seen[filepath.Join(dir, e.name)] = true
		}
	}
	for _, e := range names {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at := filepath.Join(dir, e.name)
		if e.link {
			target, err := filepath.EvalSymlinks(at)
			if err != nil || seen[target] || !isFolder(target) {
				continue
			}
			seen[target], at = true, target
		}
		if ad.settings.Own(at) {
			continue
		}
		if len(list.Entries) == maxDirectories {
			list.More = true
			break
		}
		_, git := os.Lstat(filepath.Join(at, ".git"))
		list.Entries = append(list.Entries, protocol.Directory{Name: e.name, ProjectID: known[at], Git: git == nil})
	}
	return list, nil
}

// directory returns the folder that a client asks for, without links, and whether it
// asks for hidden ones.
func (ad *Admin) directory(path string) (dir string, hidden bool, err error) {
	for part := range strings.SplitSeq(path, "/") {
		hidden = hidden || strings.HasPrefix(part, ".") && part != ".."
	}
	switch {
	case path == "" || path == "~":
		path = ad.settings.UserHome
	case strings.HasPrefix(path, "~/"):
		path = filepath.Join(ad.settings.UserHome, path[2:])
	case !filepath.IsAbs(path):
		return "", false, protocol.About("path", "", protocol.CodeInvalidRequest, "A folder is named by its whole path, which begins with / or ~/.")
	}
	if dir, err = filepath.EvalSymlinks(path); err != nil {
		return "", false, directoryError(path, err)
	}
	if ad.settings.Own(dir) {
		return "", false, ad.settings.ErrOwn()
	}
	return dir, hidden, nil
}

func directoryError(dir string, err error) error {
	if utf8.RuneCountInString(dir) > 300 {
		dir = string([]rune(dir)[:300]) + "…"
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return protocol.About("path", "", protocol.CodeInvalidRequest, "The folder %s does not exist; choose one above it.", dir)
	case errors.Is(err, fs.ErrPermission):
		return protocol.Errorf(protocol.CodePermissionDenied, "The folder %s is not readable for you; choose another, or change its permissions.", dir)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return protocol.About("path", "", protocol.CodeInvalidRequest, "The folder %s cannot be listed: %v; choose another.", dir, err)
}

// folderName is an entry of a folder that is or may be a folder.
type folderName struct {
	name string
	link bool
}

// folders returns the folders and links in dir by name; more says that there were
// names that were not looked at.
func folders(ctx context.Context, dir string, hidden bool) (names []folderName, more bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	for looked := 0; ; {
		entries, err := f.ReadDir(dirBatch)
		for _, e := range entries {
			link := e.Type()&fs.ModeSymlink != 0
			if (e.IsDir() || link) && (hidden || !strings.HasPrefix(e.Name(), ".")) && utf8.ValidString(e.Name()) {
				names = append(names, folderName{e.Name(), link})
			}
		}
		looked += len(entries)
		switch {
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case errors.Is(err, io.EOF):
			more = false
		case err != nil:
			return nil, false, err
		case looked < maxDirEntries:
			continue
		default:
			more = true
		}
		slices.SortFunc(names, func(a, b folderName) int { return strings.Compare(a.name, b.name) })
		return names, more, nil
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// handleDirectories enters the handlers of this file's requests.
func (ad *Admin) handleDirectories(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.ListDirectories) (protocol.Response, error) {
		return ad.listDirectories(ctx, r.Path)
	})
}
