package library

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"

	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/session"
	"scorel/internal/host/lane"
	"scorel/internal/host/registry"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// CreateSession makes an empty session.
func (lib *Library) CreateSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CreateSession) (*protocol.SessionSummary, error) {
	meta, err := lib.describe(ctx, id, r)
	if err != nil {
		return nil, err
	}
	s, err := lib.sessions.Create(ctx, protocol.Header{Version: protocol.HeaderVersion, SessionID: id, DeviceID: lib.device,
		CreatedAt: lib.settings.Now().UnixMilli(), Cause: by.Cause(), Meta: meta})
	if err != nil {
		return nil, err
	}
	defer lib.sessions.Release(s)
	lib.announcer.SessionChanged(s)
	sum := s.Summary()
	return &sum, nil
}

// describe returns what a new session is like, or why it is not made: what is wrong with one
// that no turn could run in is said at its start.
func (lib *Library) describe(ctx context.Context, id protocol.SessionID, r *protocol.CreateSession) (protocol.Meta, error) {
	meta := r.Meta
	meta.ProjectID = r.ProjectID
	if meta.WorkDir == "" { // the project's folder
		root, err := lib.settings.ProjectRoot(r.ProjectID)
		if err != nil {
			return meta, err
		}
		meta.WorkDir = root
	}
	return meta, protocol.Within("meta", lib.checkMeta(ctx, id, &meta))
}

// checkMeta returns why no turn could run in a session that is described so, and puts the
// folder without symlinks into it.
func (lib *Library) checkMeta(ctx context.Context, id protocol.SessionID, meta *protocol.Meta) error {
	dir, err := lib.settings.WorkDir(meta.WorkDir)
	if err != nil {
		return err
	}
	meta.WorkDir = dir
	if level := model.ThinkingLevel(meta.ThinkingLevel); level != "" && !level.Valid() {
		return protocol.About("thinkingLevel", "", protocol.CodeInvalidRequest, "There is no thinking level %.40q; it can be %s.", meta.ThinkingLevel, protocol.ThinkingLevelWords())
	}
	err = lib.turns.Check(ctx, id, *meta)
	if err != nil && protocol.AboutOf(err).Field == "model" && lib.turns.MayBeProvided(ctx, id, *meta) {
		return nil // the first turn says what is wrong with it
	}
	return err
}

// UpdateInfo changes what a session is like, by the rules of a new one. A session whose
// folder is gone can still be given a name.
func (lib *Library) UpdateInfo(ctx context.Context, l *lane.Lane, by lane.Caller, changes protocol.MetaChanges) error {
	if problem := changes.Check(); problem != nil {
		return problem.Err()
	}
	for field, set := range map[string]bool{"changes.jobState": changes.JobState != nil, "changes.projectId": changes.ProjectID != nil} {
		if set {
			return protocol.About(field, "", protocol.CodeInvalidRequest, "The field %s is set by the host alone; leave it out.", field)
		}
	}
	if changes.WorkDir != nil || changes.Model != nil || changes.ThinkingLevel != nil {
		meta := l.Meta()
		changes.Apply(&meta)
		if err := lib.checkMeta(ctx, l.ID(), &meta); err != nil {
			return protocol.Within("changes", err)
		}
		if changes.WorkDir != nil {
			changes.WorkDir = &meta.WorkDir
			if id := lib.settings.ProjectOf(meta.WorkDir); meta.ProjectID == "" && id != "" {
				changes.ProjectID = &id // its header was lost, or it came from a folder that is not here
			}
		}
	}
	return l.UpdateInfo(ctx, by, changes)
}

// ListSessions lists sessions, newest first.
func (lib *Library) ListSessions(ctx context.Context, r *protocol.ListSessions) (*protocol.SessionList, error) {
	limit := r.Limit
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	list := &protocol.SessionList{Sessions: []protocol.SessionSummary{}}
	q := session.Query{ProjectID: r.ProjectID, Text: r.Query, Limit: limit + 1, Top: !r.Subagents && r.ParentID == "", Parent: r.ParentID, Jobs: r.Jobs}
	if r.Before != "" {
		q.Before = &session.Position{UpdatedAt: r.BeforeTime, ID: r.Before}
	}
	bytes := 0
	for s, err := range lib.store.List(ctx, q) {
		if err != nil {
			return nil, err
		}
		if len(list.Sessions) == limit || bytes >= maxPageBytes {
			list.More = true
			break
		}
		sum := protocol.SessionSummary{SessionID: s.ID, Meta: s.Meta.Bounded(), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
			FirstPrompt: s.FirstPrompt, Events: s.Events, ClonedFrom: s.ClonedFrom, Parent: s.Parent, Damaged: s.Damaged, State: lib.reader.State(s.ID)}
		if s.Locked != nil {
			sum.LockedBy = s.Locked.String()
		}
		bytes += len(sum.Meta.WorkDir) + len(sum.Meta.Name) + len(sum.FirstPrompt) + summaryBytes
		list.Sessions = append(list.Sessions, sum)
	}
	return list, nil
}

// CloneSession makes a session that is a copy of another one up to an event, the leaf where
// that is "". The hooks of the other one are asked first.
func (lib *Library) CloneSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CloneSession) (*protocol.SessionSummary, error) {
	index, report, done, err := lib.reader.View(ctx, r.FromSessionID)
	if err != nil {
		return nil, err
	}
	meta, leaf := index.Meta(), index.Leaf()
	found, err := registry.Lost(ctx, index, report)
	mode, modeErr := lane.StoredMode(ctx, index)
	done()
	if err := cmp.Or(err, modeErr); err != nil {
		return nil, err
	}
	meta.Job = nil
	switch {
	case r.FromEventID != "":
		leaf = r.FromEventID
	case report.NeedsLeaf:
		return nil, protocol.About("fromEventId", protocol.ReasonLeaf, protocol.CodeStorageError, "The session cannot be copied without the event to copy it to: %s.", report.ReadOnly)
	}
	if l := lib.lanes.Lane(r.FromSessionID); l != nil { // else no extension is loaded that could refuse it
		if err := l.AskClone(ctx, leaf); err != nil {
			return nil, err
		}
	}
	if r.Name != "" {
		meta.Name = r.Name
	}
	header := protocol.Header{Version: protocol.HeaderVersion, SessionID: id, DeviceID: lib.device, CreatedAt: lib.settings.Now().UnixMilli(),
		ClonedFrom: &protocol.ClonedFrom{SessionID: r.FromSessionID, DeviceID: lib.device, EventID: leaf},
		Cause:      by.Cause(), Meta: meta}
	var own []protocol.Event
	left := lib.tooWide(meta.WorkDir, mode)
	if mode != "" && left == "" { // made with the copy: without it, the copy might do more than its source
		e := protocol.NewEvent(&protocol.SessionInfo{Mode: string(mode)})
		e.ClientID = by.Client
		own = append(own, e)
	}
	log, lost, err := lib.store.Clone(ctx, r.FromSessionID, header, own...)
	if err != nil {
		return nil, err
	}
	sum := registry.SummaryOf(log.Index())
	if err := log.Close(); err != nil {
		return nil, err
	}
	lib.announcer.SessionMade(sum)
	sum.Notices = found
	if left != "" {
		sum.Notices = append(sum.Notices, left)
	}
	if n := len(lost.Missing); n > 0 { // the source has them no more than the copy
		sum.Notices = append(sum.Notices, fmt.Sprintf("%d payloads that the copied part names are missing in the session and in its copy; scorel sessions verify names them", n))
	}
	return &sum, nil
}

// CarryMode sets the permission mode that people have set in a session, "" for none, in one
// that was made of it, unless it allows more than the configuration there: what was allowed
// for one piece of work was not allowed for another. Of a mode that is left out it returns
// what is to be said.
func (lib *Library) CarryMode(ctx context.Context, by lane.Caller, mode permission.Mode, id protocol.SessionID) (left string, err error) {
	if mode == "" {
		return "", nil
	}
	s, err := lib.sessions.Acquire(ctx, id)
	if err != nil {
		return "", err
	}
	defer lib.sessions.Release(s)
	if left := lib.tooWide(s.Lane().Meta().WorkDir, mode); left != "" {
		return left, nil
	}
	return "", s.Lane().SetMode(ctx, by, mode)
}

// tooWide says that a mode of a session allows more than the configuration of the folder of one
// that is made of it, "" where it does not.
func (lib *Library) tooWide(dir string, mode permission.Mode) string {
	if mode == "" {
		return ""
	}
	configured := lib.configuredMode(dir)
	if permission.Tighter(configured, mode) == mode {
		return ""
	}
	return fmt.Sprintf("The permission mode %s of the session does not go along, because it allows more than the configured one, %s; /mode sets one in this session", mode, configured)
}

// configuredMode is the permission mode of a folder's sessions; plan where that is not known,
// because no turn runs there before it is.
func (lib *Library) configuredMode(dir string) permission.Mode {
	_, root, err := lib.settings.Workspace(dir, nil)
	if err != nil {
		return permission.Plan
	}
	cfg, err := lib.settings.Load(root)
	if err != nil {
		return permission.Plan
	}
	mode, err := permission.ParseMode(cfg.Permissions.Mode)
	if err != nil {
		return permission.Plan
	}
	return mode
}

// noJob refuses a description that a request may not give.
func noJob(meta protocol.Meta) error {
	if meta.Job == nil {
		return nil
	}
	return protocol.About("meta.job", "", protocol.CodeInvalidRequest, "The field meta.job is set by the host alone; create_job makes a job.")
}

// handleSessions enters the handlers of this file's requests.
func (lib *Library) handleSessions(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.CreateSession) (protocol.Response, error) {
		if err := noJob(r.Meta); err != nil {
			return nil, err
		}
		return lib.CreateSession(ctx, at.By, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.CheckSession) (protocol.Response, error) {
		if err := noJob(r.Meta); err != nil {
			return nil, err
		}
		_, err := lib.describe(ctx, protocol.NewSessionID(lib.settings.Now(), rand.Reader), (*protocol.CreateSession)(r))
		return &protocol.Done{}, err
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.ListSessions) (protocol.Response, error) {
		return lib.ListSessions(ctx, r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.CloneSession) (protocol.Response, error) {
		return lib.CloneSession(ctx, at.By, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, _ *protocol.VerifySession) (protocol.Response, error) {
		return lib.verifySession(ctx, at.Call.SessionID)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.RepairSession) (protocol.Response, error) {
		return lib.repairSession(ctx, at.Call.SessionID, r.LeafEventID)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.GetPath) (protocol.Response, error) {
		return lib.getPath(ctx, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.GetTree) (protocol.Response, error) {
		return lib.getTree(ctx, at.Call.SessionID, r)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.UpdateInfo) (protocol.Response, error) {
		return &protocol.Done{}, lib.UpdateInfo(ctx, at.Lane, at.By, r.Changes)
	})
}
