package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/internal/engine/session"
	"scorel/internal/host/lane"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Pages of events.
const (
	defaultPage = 200
	maxPage     = 2000
	// maxPageBytes ends a page of events: with its last event it fits into what a
	// client takes as one message.
	maxPageBytes = 4 << 20
	// summaryBytes is what a session in a list has beside its texts, about.
	summaryBytes = 500
)

func (h *Host) createSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CreateSession) (*protocol.SessionSummary, error) {
	meta := r.Meta
	meta.ProjectID = r.ProjectID
	if meta.WorkDir == "" { // the project's folder
		root, err := h.projectRoot(r.ProjectID)
		if err != nil {
			return nil, err
		}
		meta.WorkDir = root
	}
	// A session that no turn could run in is not made: what is wrong is said now.
	if err := h.checkMeta(ctx, id, &meta); err != nil {
		return nil, protocol.Within("meta", err)
	}
	s, err := h.create(ctx, protocol.Header{Version: protocol.HeaderVersion, SessionID: id, DeviceID: h.device,
		CreatedAt: h.cfg.Now().UnixMilli(), Cause: by.Cause(), Meta: meta})
	if err != nil {
		return nil, err
	}
	defer h.release(s)
	h.sessionChanged(s)
	sum := h.summary(s)
	return &sum, nil
}

// checkMeta says why no turn could run in a session that is described so, and puts the
// folder without symlinks into it.
func (h *Host) checkMeta(ctx context.Context, id protocol.SessionID, meta *protocol.Meta) error {
	dir, err := h.workDir(meta.WorkDir)
	if err != nil {
		return err
	}
	meta.WorkDir = dir
	if level := model.ThinkingLevel(meta.ThinkingLevel); level != "" && !level.Valid() {
		return protocol.About("thinkingLevel", "", protocol.CodeInvalidRequest, "There is no thinking level %.40q; it can be one of %v.", meta.ThinkingLevel, model.ThinkingLevels())
	}
	setup, err := h.setup(id, nil)(ctx, *meta, nil)
	if err != nil {
		return err
	}
	setup.Close()
	return nil
}

// updateInfo changes what a session is like, by the rules of a new one. A session whose
// folder is gone can still be given a name.
func (h *Host) updateInfo(ctx context.Context, l *lane.Lane, by lane.Caller, changes protocol.MetaChanges) error {
	if problem := changes.Check(); problem != nil {
		return problem.Err()
	}
	if changes.WorkDir != nil || changes.Model != nil || changes.ThinkingLevel != nil {
		meta := l.Meta()
		changes.Apply(&meta)
		if err := h.checkMeta(ctx, l.ID(), &meta); err != nil {
			return protocol.Within("changes", err)
		}
		if changes.WorkDir != nil {
			changes.WorkDir = &meta.WorkDir
		}
	}
	return l.UpdateInfo(ctx, by, changes)
}

// summaryOf describes an open session.
func summaryOf(index *session.Index) protocol.SessionSummary {
	head := index.Header()
	return protocol.SessionSummary{SessionID: index.SessionID(), Meta: index.Meta().Bounded(), CreatedAt: head.CreatedAt,
		LeafID: index.Leaf(), Events: index.Len(), Bytes: index.Size(), ClonedFrom: head.ClonedFrom, Parent: head.Parent}
}

func (h *Host) listSessions(ctx context.Context, r *protocol.ListSessions) (*protocol.SessionList, error) {
	limit := r.Limit
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	list := &protocol.SessionList{Sessions: []protocol.SessionSummary{}}
	q := session.Query{ProjectID: r.ProjectID, Text: r.Query, Limit: limit + 1, Top: !r.Subagents && r.ParentID == "", Parent: r.ParentID}
	if r.Before != "" {
		q.Before = &session.Position{UpdatedAt: r.BeforeTime, ID: r.Before}
	}
	bytes := 0
	for s, err := range h.store.List(ctx, q) {
		if err != nil {
			return nil, err
		}
		if len(list.Sessions) == limit || bytes >= maxPageBytes {
			list.More = true
			break
		}
		sum := protocol.SessionSummary{SessionID: s.ID, Meta: s.Meta.Bounded(), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
			FirstPrompt: s.FirstPrompt, Events: s.Events, ClonedFrom: s.ClonedFrom, Parent: s.Parent, State: h.stateOf(s.ID)}
		if s.Locked != nil {
			sum.LockedBy = s.Locked.String()
		}
		bytes += len(sum.Meta.WorkDir) + len(sum.Meta.Name) + len(sum.FirstPrompt) + summaryBytes
		list.Sessions = append(list.Sessions, sum)
	}
	return list, nil
}

func (h *Host) cloneSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CloneSession) (*protocol.SessionSummary, error) {
	index, report, done, err := h.view(ctx, r.FromSessionID)
	if err != nil {
		return nil, err
	}
	meta, leaf := index.Meta(), index.Leaf()
	done()
	switch {
	case r.FromEventID != "":
		leaf = r.FromEventID
	case report.NeedsLeaf:
		return nil, protocol.About("fromEventId", protocol.ReasonLeaf, protocol.CodeStorageError, "The session cannot be copied without the event to copy it to: %s.", report.ReadOnly)
	}
	if r.Name != "" {
		meta.Name = r.Name
	}
	header := protocol.Header{Version: protocol.HeaderVersion, SessionID: id, DeviceID: h.device, CreatedAt: h.cfg.Now().UnixMilli(),
		ClonedFrom: &protocol.ClonedFrom{SessionID: r.FromSessionID, DeviceID: h.device, EventID: leaf},
		Cause:      by.Cause(), Meta: meta}
	log, lost, err := h.store.Clone(ctx, r.FromSessionID, header)
	if err != nil {
		return nil, err
	}
	sum := summaryOf(log.Index())
	if err := log.Close(); err != nil {
		return nil, err
	}
	h.sessionMade(sum)
	if n := len(lost.Missing); n > 0 { // the source has them no more than the copy
		sum.Notices = []string{fmt.Sprintf("%d payloads that the copied part names are missing in the session and in its copy; scorel sessions verify names them", n)}
	}
	return &sum, nil
}

// exportSession writes a session into a file that is kept for the client, see [transfers].
func (h *Host) exportSession(ctx context.Context, client protocol.ClientID, id protocol.SessionID, format string) (*protocol.BlobRef, error) {
	v, _, err := h.store.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = v.Close() }()
	out, err := h.newSpool()
	if err != nil {
		return nil, storageError("write the export", err)
	}
	w := bufio.NewWriterSize(out, exportBuffer)
	var lost session.Lost
	switch format {
	case "jsonl":
		err = session.ExportJSONL(ctx, w, v)
	case "bundle":
		lost, err = h.store.ExportBundle(ctx, w, v)
	case "html":
		err = h.exportHTML(ctx, w, v, &lost)
	default:
		header := v.Index().Header()
		header.Meta = v.Index().Meta()
		err = display.Markdown(w, header, h.forward(ctx, v.Index(), &lost))
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		out.discard()
	}
	if errors.Is(err, session.ErrTooLarge) {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "The session is too large for one bundle of 2 GiB; copy its .jsonl and the blobs folder, and import those.")
	}
	if err != nil {
		return nil, err
	}
	ref, err := out.keep(client, true)
	if err != nil {
		return nil, err
	}
	ref.Notices = lostNotices(lost)
	return ref, nil
}

// exportBuffer is how much of an export is written at once, in bytes.
const exportBuffer = 256 << 10

// maxWhole bounds what an export has of a text that the log has cut, in bytes.
const maxWhole = 16 << 20

// forward gives the conversation events of the active path, oldest first, with the whole
// of what the log has cut, and notes which of that is lost.
func (h *Host) forward(ctx context.Context, index *session.Index, lost *session.Lost) func(func(protocol.Event, error) bool) {
	return func(yield func(protocol.Event, error) bool) {
		path, err := index.Path(index.Leaf())
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		for _, id := range path {
			e, err := index.Event(ctx, id)
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.IsCut() {
				m, _ := b.Message.Whole(h.cutText(ctx, lost)) // what is lost stays cut and says so
				e.Body = &protocol.MessageBody{Message: m}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// cutText reads the whole of a text that the log has cut.
func (h *Host) cutText(ctx context.Context, lost *session.Lost) func(sha string) ([]byte, error) {
	return func(sha string) ([]byte, error) {
		data, err := h.store.Blobs().Read(ctx, sha, maxWhole)
		lost.Add(sha, err)
		return data, err
	}
}

func (h *Host) verifySession(ctx context.Context, id protocol.SessionID) (*protocol.SessionReport, error) {
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	report, err := h.store.Verify(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.reportOf(ctx, id, report)
}

func (h *Host) repairSession(ctx context.Context, id protocol.SessionID, leaf protocol.EventID) (*protocol.SessionReport, error) {
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if err := h.free(ctx, id, "repair", "repaired"); err != nil {
		return nil, err
	}
	var picked []string
	if leaf != "" {
		found, err := h.pickLeaf(ctx, id, leaf)
		if err != nil {
			return nil, err
		}
		picked = found
	}
	report, err := h.store.Repair(ctx, id)
	switch {
	case errors.Is(err, session.ErrReadOnly) && report.Has(session.FindNewerVersion):
		return nil, protocol.Errorf(protocol.CodeStorageError, "The session cannot be repaired: %s.", report.ReadOnly)
	case errors.Is(err, session.ErrReadOnly):
		return nil, protocol.About("leafEventId", protocol.ReasonLeaf, protocol.CodeStorageError, "The damage may have moved the leaf of %s; look at its tree, and name the event to go on from.", id)
	case err != nil:
		return nil, err
	}
	after, err := h.store.Verify(ctx, id)
	if err != nil {
		return nil, err
	}
	out, err := h.reportOf(ctx, id, after)
	if err != nil {
		return nil, err
	}
	stays := out.Findings
	out.Findings = picked
	for _, f := range report.Sentences() {
		if !slices.Contains(picked, f) {
			out.Findings = append(out.Findings, f)
		}
	}
	for _, f := range stays {
		out.Findings = append(out.Findings, "what a repair cannot mend: "+f)
	}
	return out, nil
}

// pickLeaf ends the read-only state of a log in which damage may have moved the
// leaf, and gives what was found.
func (h *Host) pickLeaf(ctx context.Context, id protocol.SessionID, leaf protocol.EventID) ([]string, error) {
	log, report, err := h.store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	if !log.NeedsLeaf() {
		if only, why := log.ReadOnly(); only {
			return nil, protocol.Errorf(protocol.CodeStorageError, "The session is read-only: %s.", why)
		}
		return nil, protocol.About("leafEventId", protocol.ReasonHeld, protocol.CodeInvalidRequest, "This session's leaf is known; to move it, branch.")
	}
	if _, err := log.Index().Path(leaf); err != nil {
		return nil, protocol.About("leafEventId", "", protocol.CodeInvalidEventID, "The session has no message %s.", leaf)
	}
	e := protocol.NewEvent(&protocol.Branch{LeafEventID: leaf})
	e.ID, e.ParentID, e.Seq = protocol.NewEventID(h.cfg.Rand), log.Index().Leaf(), log.NextSeqFloor()
	e.SessionID, e.ClientID, e.TS = id, protocol.HostClient, h.cfg.Now().UnixMilli()
	if err := log.PickLeaf(ctx, e); err != nil {
		return nil, err
	}
	report.ReadOnly = ""
	return report.Sentences(), nil
}

func (h *Host) reportOf(ctx context.Context, id protocol.SessionID, report session.Report) (*protocol.SessionReport, error) {
	index, _, done, err := h.view(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	return &protocol.SessionReport{Sound: report.Clean(), Events: index.Len(), Bytes: index.Size(), Findings: report.Sentences()}, nil
}

func page(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, maxPage)
}

func (h *Host) getPath(ctx context.Context, id protocol.SessionID, r *protocol.GetPath) (*protocol.Events, error) {
	index, report, done, err := h.view(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	leaf := r.LeafID
	if leaf == "" {
		leaf = index.Leaf()
	}
	out := &protocol.Events{Events: []protocol.Event{}, LeafID: index.Leaf()}
	from := leaf
	if r.BeforeID == "" {
		if out.Findings, err = lost(ctx, index, report); err != nil {
			return nil, err
		}
	} else {
		if from, err = index.Parent(r.BeforeID); err != nil {
			return nil, err
		}
	}
	bytes := 0
	for e, err := range index.Back(ctx, from) {
		if err != nil {
			return nil, err
		}
		if len(out.Events) == page(r.Limit) || bytes >= maxPageBytes {
			out.More = true
			if out.Older, err = index.Depth(e.ID); err != nil {
				return nil, err
			}
			break
		}
		if e, ok := sendable(e); ok {
			out.Events = append(out.Events, e)
			bytes += len(e.Raw())
		}
	}
	return out, nil
}

// sendable gives an event of the log as it can be sent: bytes that are not UTF-8 are
// replaced. It is false for one whose line is damaged inside, which is told to
// nobody; the report of the session names it.
func sendable(e protocol.Event) (protocol.Event, bool) {
	raw := e.Raw()
	if raw == nil || utf8.Valid(raw) {
		return e, raw != nil
	}
	e, err := protocol.ParseEvent([]byte(string([]rune(string(raw))))) // as session.Index.After does
	return e, err == nil
}

func (h *Host) getTree(ctx context.Context, id protocol.SessionID, r *protocol.GetTree) (*protocol.Events, error) {
	index, report, done, err := h.view(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	out := &protocol.Events{Events: []protocol.Event{}, LeafID: index.Leaf()}
	onPath, err := index.OnPath(out.LeafID)
	if err != nil {
		return nil, err
	}
	if r.AfterSeq == 0 {
		if out.Findings, err = lost(ctx, index, report); err != nil {
			return nil, err
		}
	}
	bytes := 0
	for e, err := range index.EventsAfter(ctx, r.AfterSeq) {
		if err != nil {
			return nil, err
		}
		if len(out.Events) == page(r.Limit) || bytes >= maxPageBytes {
			out.More = true
			break
		}
		if onPath(e.ID) {
			out.Active = append(out.Active, len(out.Events))
		}
		out.Events = append(out.Events, e)
		bytes += len(e.Raw())
	}
	return out, nil
}

// reap ends what a host that died has left running of a session. The session's
// lock is held.
func (h *Host) reap(id protocol.SessionID) error {
	dir := h.runDir(id)
	if _, err := os.Stat(dir); err != nil {
		return nil // nothing was left
	}
	n, err := reapChildren(dir)
	if n > 0 {
		h.report(id, fmt.Sprintf("ended %d process groups that an earlier host left running", n), nil)
	}
	return err
}

// handleSessions registers the handlers of this file's requests.
func (h *Host) handleSessions(t handlers) {
	on(t, func(ctx context.Context, at *target, r *protocol.CreateSession) (protocol.Response, error) {
		return h.createSession(ctx, at.by, at.call.SessionID, r)
	})
	on(t, func(ctx context.Context, _ *target, r *protocol.ListSessions) (protocol.Response, error) {
		return h.listSessions(ctx, r)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.CloneSession) (protocol.Response, error) {
		return h.cloneSession(ctx, at.by, at.call.SessionID, r)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.ExportSession) (protocol.Response, error) {
		return h.exportSession(ctx, at.conn.client, at.call.SessionID, r.Format)
	})
	on(t, func(ctx context.Context, at *target, _ *protocol.VerifySession) (protocol.Response, error) {
		return h.verifySession(ctx, at.call.SessionID)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.RepairSession) (protocol.Response, error) {
		return h.repairSession(ctx, at.call.SessionID, r.LeafEventID)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.GetPath) (protocol.Response, error) {
		return h.getPath(ctx, at.call.SessionID, r)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.GetTree) (protocol.Response, error) {
		return h.getTree(ctx, at.call.SessionID, r)
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.UpdateInfo) (protocol.Response, error) {
		return &protocol.Done{}, h.updateInfo(ctx, at.lane, at.by, r.Changes)
	})
}
