package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"scorel/internal/bundle"
	"scorel/internal/disk"
	"scorel/internal/host/lane"
	"scorel/internal/session"
	"scorel/internal/workspace"
	"scorel/protocol"
)

// Bounds of an import.
const (
	exportPart     = 32 << 20                      // bytes of one blob of an export
	maxImportParts = bundle.MaxUnpacked>>20/16 + 1 // blobs of at least 16 MiB, but for the last
)

// importSession makes a session from payloads that this connection has put.
func (c *Conn) importSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.ImportSession) (*protocol.Imported, error) {
	h := c.h
	if err := id.Check(); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if n := len(r.Blobs); n == 0 || n > maxImportParts {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "An import has from 1 to %d parts; put them first.", maxImportParts)
	}
	for _, sha := range r.Blobs {
		if err := c.readable(ctx, "", sha); err != nil {
			return nil, protocol.Errorf(protocol.CodeForbidden, "The payload %.64q was not put on this connection; put it again.", sha)
		}
	}
	workDir := ""
	if r.WorkDir != "" {
		var err error
		if workDir, err = canonicalDir(r.WorkDir); err != nil {
			return nil, err
		}
	}
	parts := &partsReader{store: h.store, rest: r.Blobs}
	defer parts.close()
	header := protocol.Header{Version: protocol.HeaderVersion, SessionID: id, DeviceID: h.device, CreatedAt: h.cfg.Now().UnixMilli(),
		Cause: &protocol.Cause{ClientID: by.Client, RequestID: by.Request}}
	var notices []string
	log, report, err := h.store.Import(ctx, parts, header, session.ImportOptions{ClientID: by.Client, Leaf: r.LeafEventID, Meta: func(m protocol.Meta) protocol.Meta {
		if workDir != "" {
			m.WorkDir = workDir
		}
		m.ProjectID = ""
		dir, err := canonicalDir(m.WorkDir)
		if m.WorkDir == "" || err != nil {
			notices = append(notices, fmt.Sprintf("its working directory %s does not exist here; name another when you go on: scorel -p --session %s --cwd DIR", m.WorkDir, id))
			return m
		}
		// A file of anybody's may name any folder, and what is below that can be
		// read without a question.
		if workDir == "" && !h.knownProject(dir) {
			notices = append(notices, fmt.Sprintf("it works in %s, as it says itself and where no session has worked here before; --cwd names another folder", dir))
		}
		if p, err := h.registerProject(ctx, dir); err == nil {
			m.ProjectID = p.ProjectID
		}
		return m
	}})
	if errors.Is(err, session.ErrImport) {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if err != nil {
		return nil, err
	}
	out := &protocol.Imported{Summary: summaryOf(log.Index()), Findings: boundFindings(id, append(report.Sentences(), notices...), maxFindings)}
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
	return err == nil && findProject(data, root) != ""
}

// partsReader reads payloads one behind the other.
type partsReader struct {
	store *session.Store
	rest  []string
	open  io.ReadCloser
}

func (p *partsReader) Read(b []byte) (int, error) {
	for {
		if p.open == nil {
			if len(p.rest) == 0 {
				return 0, io.EOF
			}
			f, _, err := p.store.Blobs().Open(p.rest[0])
			if err != nil {
				return 0, err
			}
			p.open, p.rest = f, p.rest[1:]
		}
		n, err := p.open.Read(b)
		if err == io.EOF {
			p.close()
			if n == 0 {
				continue
			}
			err = nil
		}
		return n, err
	}
}

func (p *partsReader) close() {
	if p.open != nil {
		_ = p.open.Close()
		p.open = nil
	}
}

// storeParts stores what write writes in as many blobs as it takes.
func (h *Host) storeParts(ctx context.Context, write func(w io.Writer) error) (*protocol.BlobRef, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }() // ends when all has been read, or r is closed
	defer func() { _ = r.CloseWithError(io.ErrClosedPipe) }()
	ref := &protocol.BlobRef{}
	for {
		part := &io.LimitedReader{R: r, N: exportPart}
		sha, size, err := h.store.Blobs().Put(ctx, part)
		if err != nil {
			return nil, err
		}
		if size > 0 || len(ref.Parts) == 0 {
			ref.Parts = append(ref.Parts, protocol.BlobRef{SHA256: sha, Size: size})
			ref.Size += size
		}
		if part.N > 0 {
			break
		}
	}
	if len(ref.Parts) == 1 {
		ref.SHA256, ref.Parts = ref.Parts[0].SHA256, nil
	}
	return ref, nil
}

// missingNotice says that an export lacks payloads.
func missingNotice(missing []string) []string {
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d payloads that the session names are missing here and in the export; scorel sessions verify names them", len(missing))}
}
