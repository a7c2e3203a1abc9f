package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"scorel/internal/engine/archive"
	"scorel/internal/engine/session"
	"scorel/internal/host/lane"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Bounds of an import.
const maxImportParts = archive.MaxUnpacked>>20/16 + 1 // parts of at least 16 MiB, but for the last

// importSession makes a session from parts that this client has put. They are dropped
// then, whatever came of it.
func (c *Conn) importSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.ImportSession) (*protocol.Imported, error) {
	h := c.h
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if n := len(r.Blobs); n == 0 || n > maxImportParts {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "An import has from 1 to %d parts; put them first.", maxImportParts)
	}
	defer h.releaseParts(ctx, c.client, r.Blobs)
	for _, sha := range r.Blobs {
		if t, done := h.transfers.take(c.client, sha); t != nil {
			done()
			continue
		}
		if err := c.readable(ctx, "", sha); err != nil {
			return nil, protocol.Errorf(protocol.CodeForbidden, "The part %.64q of the import is not here (any more); put it again.", sha)
		}
	}
	workDir := ""
	if r.WorkDir != "" {
		var err error
		if workDir, _, err = h.workspace(r.WorkDir, h.cfg.Overrides.Wide); err != nil {
			return nil, err
		}
	}
	parts := &partsReader{ctx: ctx, h: h, client: c.client, rest: r.Blobs}
	defer parts.close()
	header := protocol.Header{Version: protocol.HeaderVersion, SessionID: id, DeviceID: h.device, CreatedAt: h.cfg.Now().UnixMilli(),
		Cause: by.Cause()}
	var notices []string
	log, report, err := h.store.Import(ctx, parts, header, session.ImportOptions{ClientID: by.Client, Leaf: r.LeafEventID, Meta: func(m protocol.Meta) protocol.Meta {
		if workDir != "" {
			m.WorkDir = workDir
		}
		m.ProjectID = ""
		dir, _, err := h.workspace(m.WorkDir, h.cfg.Overrides.Wide)
		if err != nil {
			notices = append(notices, fmt.Sprintf("it cannot go on in %q, as it says itself: %s", m.WorkDir, requestError(err).Message))
			return m
		}
		// A file of anybody's may name any folder, and what is below that can be
		// read without a question.
		if workDir == "" && !h.knownProject(dir) {
			notices = append(notices, fmt.Sprintf("it works in %s, as it says itself and where no session has worked here before; --cwd names another folder", dir))
		}
		if p, err := h.registerProject(ctx, dir, false); err == nil {
			m.ProjectID = p.ProjectID
		}
		return m
	}})
	if errors.Is(err, session.ErrImportLeaf) {
		return nil, protocol.About("leafEventId", protocol.ReasonLeaf, protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if errors.Is(err, session.ErrImport) {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if err != nil {
		return nil, err
	}
	out := &protocol.Imported{Summary: summaryOf(log.Index()), Findings: boundFindings(id, append(report.Sentences(), notices...), maxKeptFindings)}
	if err := log.Close(); err != nil {
		return nil, err
	}
	if err := h.keepFindings(ctx, id, out.Findings); err != nil { // the session is there
		h.report(id, "keep what the import found: "+err.Error(), nil)
	}
	h.sessionMade(out.Summary)
	return out, nil
}

// knownProject says whether the project of a canonical folder is registered.
func (h *Host) knownProject(dir string) bool {
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	data, err := disk.ReadFile(h.cfg.FS, filepath.Join(h.cfg.Dir, "projects.json"), maxProjectsFile)
	if err != nil {
		return false
	}
	id, _ := findProject(data, root)
	return id != ""
}

// lostNotices says that an export lacks payloads.
func lostNotices(lost session.Lost) (out []string) {
	for _, l := range []struct {
		payloads []string
		what     string
	}{
		{lost.Missing, "are missing here and in the export"},
		{lost.Damaged, "are damaged here and not in the export"},
		{lost.Unread, "cannot be read here and are not in the export"},
	} {
		if n := len(l.payloads); n > 0 {
			out = append(out, fmt.Sprintf("%d payloads that the session names %s; scorel sessions verify names them", n, l.what))
		}
	}
	return out
}

// handleImports registers the handlers of this file's requests.
func (h *Host) handleImports(t handlers) {
	on(t, func(ctx context.Context, at *target, r *protocol.ImportSession) (protocol.Response, error) {
		return at.conn.importSession(ctx, at.by, at.call.SessionID, r)
	})
}
