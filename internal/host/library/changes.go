package library

import (
	"bytes"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/platform/repository"
	"scorel/protocol"
)

// Bounds of what a session has changed.
const (
	maxChanges      = 200      // files of an answer
	maxChangeDiff   = 64 << 10 // bytes of the difference of one
	maxChangeDiffs  = 1 << 20  // bytes of all of them
	maxChangeSource = 1 << 20  // bytes of a file that is compared
)

// Why it is not known what has changed.
const (
	problemOutside = "It lies outside the folder of the session, or where keys are kept, and is not shown."
	problemKept    = "Its content from before was not kept, because it was too large."
	problemLost    = "Its content from before cannot be read any more."
)

// listChanges compares the files that the tools of a session have written, in all branches
// of the log, with what they were before the first write, or with the last commit.
func (lib *Library) listChanges(ctx context.Context, id protocol.SessionID, git bool) (*protocol.ChangeList, error) {
	index, _, done, err := lib.reader.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	first := map[string]*protocol.FileSnapshot{}
	for e, err := range index.OfType(ctx, protocol.TypeFileSnapshot) {
		if err != nil {
			return nil, err
		}
		if b, ok := e.Body.(*protocol.FileSnapshot); ok && first[b.Path] == nil {
			first[b.Path] = b
		}
	}
	list := &protocol.ChangeList{Files: []protocol.ChangedFile{}}
	if len(first) == 0 && !git {
		return list, nil
	}
	dir, err := settings.Existing("sessionId", index.Meta().WorkDir)
	if err != nil {
		return nil, err
	}
	opened, err := files.New(files.Config{Root: dir, Home: lib.settings.UserHome, Reach: lib.settings.Dir})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	defer opened.Close()
	head, err := repository.OpenHead(opened.Root())
	if err == nil {
		defer head.Close()
		list.Git = true
	} else if git {
		return nil, protocol.About("git", "", protocol.CodeInvalidRequest, "There is no commit of Git in this folder that can be read; ask for the changes without git.")
	}
	before := lib.before
	if git {
		before = func(_ context.Context, was *protocol.FileSnapshot) ([]byte, bool, string) {
			return committed(head, was.Path)
		}
	}
	left := maxChangeDiffs
	for _, path := range slices.Sorted(maps.Keys(first)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		change := changeOf(ctx, opened, first[path], before)
		if change == nil {
			continue
		}
		if len(list.Files) == maxChanges {
			list.More = true
			break
		}
		if len(change.Diff) > left {
			change.Diff, change.Omitted = "", true
		}
		left -= len(change.Diff)
		list.Files = append(list.Files, *change)
	}
	return list, nil
}

// contentBefore returns what a file is compared with, and whether it existed; problem is why
// that is not known.
type contentBefore func(ctx context.Context, was *protocol.FileSnapshot) (data []byte, existed bool, problem string)

// before returns a file as it was when the session changed it first.
func (lib *Library) before(ctx context.Context, was *protocol.FileSnapshot) ([]byte, bool, string) {
	switch {
	case !was.Existed:
		return nil, false, ""
	case !was.Restorable:
		return nil, true, problemKept
	}
	data, err := lib.store.Blobs().Read(ctx, was.Blob, files.MaxSnapshot)
	if err != nil {
		return nil, true, problemLost
	}
	return data, true, ""
}

// committed returns a file as it is in the last commit.
func committed(head *repository.Head, path string) ([]byte, bool, string) {
	rel, err := filepath.Rel(head.Top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, false, problemOutside
	}
	data, existed, err := head.File(filepath.ToSlash(rel), files.MaxSnapshot)
	if err != nil {
		return nil, true, "The last commit of it cannot be read."
	}
	return data, existed, ""
}

// changeOf compares a file with what it was; nil is no difference.
func changeOf(ctx context.Context, opened *files.Files, was *protocol.FileSnapshot, of contentBefore) *protocol.ChangedFile {
	out := &protocol.ChangedFile{Path: was.Path, State: protocol.ChangeUnknown}
	if rel, err := filepath.Rel(opened.Root(), was.Path); err == nil && filepath.IsLocal(rel) {
		out.Path = filepath.ToSlash(rel)
	}
	out.Path = strings.ToValidUTF8(out.Path, "\uFFFD")
	target, err := opened.Open(was.Path, false)
	if err != nil {
		out.Problem = failure.Sentence(err) + "."
		return out
	}
	defer target.Close()
	if !target.Path.Inside || target.Path.Protected {
		out.Problem = problemOutside
		return out
	}
	before, existed, problem := of(ctx, was)
	exists := target.File != nil
	switch {
	case !existed && !exists:
		return nil
	case !existed:
		out.State = protocol.ChangeAdded
	case !exists:
		out.State = protocol.ChangeRemoved
	default:
		out.State = protocol.ChangeChanged
	}
	if out.Problem = problem; problem != "" {
		return out
	}
	var after []byte
	if exists {
		if after, err = io.ReadAll(io.NewSectionReader(target.File, 0, files.MaxSnapshot+1)); err != nil {
			out.Problem = failure.Sentence(files.Explain(target.Path.Abs, err)) + "."
			return out
		}
	}
	if existed && exists && bytes.Equal(before, after) {
		return nil
	}
	compare(out, before, after)
	return out
}

// compare says what the difference of two contents is.
func compare(out *protocol.ChangedFile, before, after []byte) {
	text := func(b []byte) bool { return bytes.IndexByte(b, 0) < 0 && utf8.Valid(b) }
	switch {
	case !text(before) || !text(after):
		out.Binary = true
		return
	case len(before) > maxChangeSource || len(after) > maxChangeSource:
		out.Omitted = true
		return
	}
	diff := tool.Unified(out.Path, before, after)
	_, hunks, _ := strings.Cut(diff, "@@")
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			out.Added++
		case '-':
			out.Removed++
		}
	}
	if out.Omitted = len(diff) > maxChangeDiff; !out.Omitted {
		out.Diff = diff
	}
}

// handleChanges enters the handlers of this file's requests.
func (lib *Library) handleChanges(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.ListChanges) (protocol.Response, error) {
		return lib.listChanges(ctx, at.Call.SessionID, r.Git)
	})
}
