package filelist

import (
	"context"
	"time"
	"unicode/utf8"

	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/text/fuzzy"
	"scorel/protocol"
)

// Bounds of finding files.
const (
	filesLimit    = 50  // of an answer, without one
	maxFilesLimit = 200 // of an answer
	maxFilesQuery = 256 // bytes

	maxFileLists  = 4                // projects whose files are kept in memory; the one not used for longest goes
	maxFileWalks  = 2                // lists that are taken at once; further ones wait
	fileListFresh = 3 * time.Second  // a list is taken again when it is older, and ten times the time that took
	fileListIdle  = 10 * time.Minute // after which lists go that nobody has asked for
	fileListTime  = 60 * time.Second // for a list; what was found until then counts

	fileListPatience = 300 * time.Millisecond // then a query that waits for a list is answered from what was found so far
)

// Files finds files of projects.
type Files struct {
	settings *settings.Settings
	lists    lists
}

// New makes files; no list is taken yet.
func New(s *settings.Settings) *Files { return &Files{settings: s} }

// Forget drops the list of a project.
func (fs *Files) Forget(id protocol.ProjectID) { fs.lists.forget(id) }

// Close ends the walks that take lists, and waits for them.
func (fs *Files) Close() { fs.lists.close() }

// listFiles returns the files of a project that fit a query, best first. It answers
// from a list in memory: when that is not fresh a new one is taken meanwhile. Only the
// first query of a project waits for it, and one that finds nothing, for a moment.
func (fs *Files) listFiles(ctx context.Context, r *protocol.ListFiles) (*protocol.FileList, error) {
	if len(r.Query) > maxFilesQuery {
		return nil, protocol.About("query", "", protocol.CodeInvalidRequest, "To find a file takes at most %d bytes.", maxFilesQuery)
	}
	limit := r.Limit
	if limit <= 0 {
		limit = filesLimit
	}
	files, more, err := fs.lists.find(ctx, r.ProjectID, fs.settings.ProjectRoot, fs.takeFiles, r.Query, min(limit, maxFilesLimit))
	if err != nil {
		return nil, err
	}
	return &protocol.FileList{Files: append([]string{}, files...), More: more}, nil
}

// takeFiles adds the files below a root to a list. Names that are not text cannot be
// told to a client and are left out.
func (fs *Files) takeFiles(ctx context.Context, root string, b *fuzzy.Builder) error {
	dir, err := settings.Existing("projectId", root)
	if err != nil {
		return err
	}
	files, err := files.New(files.Config{Root: dir, Home: fs.settings.UserHome, Reach: fs.settings.Dir})
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	defer files.Close()
	limited, cancel := context.WithTimeout(ctx, fileListTime)
	defer cancel()
	err = tool.ListFiles(limited, files, func(rel string) bool { return !utf8.ValidString(rel) || b.Add(rel) })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && limited.Err() == nil:
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return nil
}

// Handle enters the handlers of this file's requests.
func (fs *Files) Handle(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.ListFiles) (protocol.Response, error) {
		return fs.listFiles(ctx, r)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.GetFile) (protocol.Response, error) {
		return fs.getFile(r)
	})
}
