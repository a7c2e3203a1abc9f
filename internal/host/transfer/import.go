package transfer

import (
	"context"
	"errors"
	"fmt"

	"scorel/internal/engine/archive"
	"scorel/internal/engine/session"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/registry"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// Bounds of an import.
const maxImportParts = archive.MaxUnpacked>>20/16 + 1 // parts of at least 16 MiB, but for the last

// importSession makes a session from parts that this client has put. They are dropped
// then, whatever came of it.
func (ts *Transfers) importSession(ctx context.Context, from request.Client, by lane.Caller, id protocol.SessionID, r *protocol.ImportSession) (*protocol.Imported, error) {
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if n := len(r.Blobs); n == 0 || n > maxImportParts {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "An import has from 1 to %d parts; put them first.", maxImportParts)
	}
	defer ts.releaseParts(ctx, by.Client, r.Blobs)
	if err := ts.checkParts(ctx, from, by.Client, r.Blobs); err != nil {
		return nil, err
	}
	workDir := ""
	if r.WorkDir != "" {
		var err error
		if workDir, _, err = ts.settings.Workspace(r.WorkDir, ts.settings.Overrides.Wide); err != nil {
			return nil, err
		}
	}
	parts := &partsReader{ctx: ctx, ts: ts, client: by.Client, rest: r.Blobs}
	defer parts.close()
	header := protocol.Header{Version: protocol.HeaderVersion, SessionID: id, DeviceID: ts.device, CreatedAt: ts.settings.Now().UnixMilli(),
		Cause: by.Cause()}
	place := &importPlace{ts: ts, ctx: ctx, workDir: workDir}
	log, report, err := ts.store.Import(ctx, parts, header, session.ImportOptions{ClientID: by.Client, Leaf: r.LeafEventID, Meta: place.meta})
	if errors.Is(err, session.ErrImportLeaf) {
		return nil, protocol.About("leafEventId", protocol.ReasonLeaf, protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if errors.Is(err, session.ErrImport) {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if err != nil {
		return nil, err
	}
	out := &protocol.Imported{Summary: registry.SummaryOf(log.Index()), Findings: boundFindings(id, append(report.Sentences(), place.notices...), maxKeptFindings)}
	if err := log.Close(); err != nil {
		return nil, err
	}
	if err := ts.keepFindings(ctx, id, out.Findings); err != nil { // the session is there
		ts.log.Report(id, "keep what the import found: "+err.Error(), nil)
	}
	ts.announcer.SessionMade(out.Summary)
	return out, nil
}

// checkParts fails where a part of an import is not here.
func (ts *Transfers) checkParts(ctx context.Context, from request.Client, client protocol.ClientID, parts []string) error {
	for _, sha := range parts {
		if t, done := ts.shelf.take(client, sha); t != nil {
			done()
			continue
		}
		if err := from.Readable(ctx, "", sha); err != nil {
			return protocol.Errorf(protocol.CodeForbidden, "The part %.64q of the import is not here (any more); put it again.", sha)
		}
	}
	return nil
}

// importPlace is where an imported session goes on.
type importPlace struct {
	ts      *Transfers
	ctx     context.Context // of the import
	workDir string          // that the client named, "" for that of the session
	notices []string
}

// meta returns how the session is described here, and notes what people should know of it.
func (p *importPlace) meta(m protocol.Meta) protocol.Meta {
	s := p.ts.settings
	if p.workDir != "" {
		m.WorkDir = p.workDir
	}
	m.ProjectID, m.Job = "", nil
	dir, _, err := s.Workspace(m.WorkDir, s.Overrides.Wide)
	if err != nil {
		p.notices = append(p.notices, fmt.Sprintf("it cannot continue in %q, which it names as its folder: %s", m.WorkDir, failure.Of(err).Message))
		return m
	}
	// A file of anybody's may name any folder, and what is below that can be
	// read without a question.
	if p.workDir == "" && s.ProjectOf(dir) == "" {
		p.notices = append(p.notices, fmt.Sprintf("it works in %s, as it says itself and where no session has worked here before; --cwd names another folder", dir))
	}
	if known, err := p.ts.projects.Register(p.ctx, dir, false); err == nil {
		m.ProjectID = known.ProjectID
	}
	return m
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

// Handle registers the handlers of this file's requests.
func (ts *Transfers) Handle(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.ImportSession) (protocol.Response, error) {
		return ts.importSession(ctx, at.Client, at.By, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.ExportSession) (protocol.Response, error) {
		return ts.exportSession(ctx, at.By.Client, at.Call.SessionID, r.Format)
	})
}
