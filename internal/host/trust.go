package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/trust"
	"scorel/protocol"
)

// maxIgnored is how many names a summary of trust holds, and maxIgnoredName how
// many bytes each has: the answer to trust_project is remembered.
const (
	maxIgnored     = 5
	maxIgnoredName = 100
)

// look says how a project's files stand, by one of the two looks of the store.
func look(ctx context.Context, root string, how func(context.Context, string) (*trust.Report, error)) (*trust.Report, error) {
	r, err := how(ctx, root)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	return r, nil
}

// projectTrust sums up how a project's files stand. Notices are those of its
// configuration, which say what of it would count.
func (h *Host) projectTrust(ctx context.Context, root string, notices []config.Notice) (*protocol.ProjectTrust, error) {
	r, err := look(ctx, root, h.trust.Status)
	if err != nil {
		return nil, err
	}
	t := &protocol.ProjectTrust{State: stateOf(r)}
	if r.Problem != "" {
		t.Notices = append(t.Notices, r.Problem)
	}
	for _, it := range r.Items {
		name := it.Name
		if it.Status == trust.StatusTrusted {
			continue
		}
		switch it.Kind {
		case trust.KindHook: // its configuration stands for it
			continue
		case trust.KindConfig:
			keys := untrustedKeys(notices)
			if len(keys) == 0 && it.Problem == "" {
				continue // it sets nothing that does not count already
			}
			name += " (" + strings.Join(keys, ", ") + ")"
		}
		t.Count++
		if len(t.Ignored) < maxIgnored {
			if len(name) > maxIgnoredName {
				name = strings.ToValidUTF8(name[:maxIgnoredName], "") + "…"
			}
			t.Ignored = append(t.Ignored, name)
		}
	}
	return t, nil
}

// untrustedKeys gives the keys that would count in a trusted project.
func untrustedKeys(notices []config.Notice) (keys []string) {
	for _, n := range notices {
		if n.Untrusted {
			keys = append(keys, n.Key)
		}
	}
	return keys
}

func stateOf(r *trust.Report) protocol.TrustState {
	trusted := 0
	for _, it := range r.Items {
		if it.Status == trust.StatusTrusted {
			trusted++
		}
	}
	switch {
	case r.Problem != "":
		return protocol.TrustNotPossible
	case len(r.Items) == 0:
		return protocol.TrustNone
	case trusted == len(r.Items):
		return protocol.TrustAll
	case !r.TrustedAt.IsZero():
		return protocol.TrustPart
	}
	return protocol.TrustNothing
}

// configTrust gives the state of a project's configuration file, "" without one.
func (h *Host) configTrust(ctx context.Context, root string) (string, error) {
	r, err := look(ctx, root, h.trust.Status)
	if err != nil {
		return "", err
	}
	if it := r.Find(trust.KindConfig, projectConfig); it != nil {
		return string(it.Status), nil
	}
	return "", nil
}

// getTrust gives what of a project could act, file by file.
func (h *Host) getTrust(ctx context.Context, id protocol.ProjectID) (*protocol.TrustReport, error) {
	root, err := h.projectRoot(id)
	if err != nil {
		return nil, err
	}
	r, err := look(ctx, root, h.trust.Look)
	if err != nil {
		return nil, err
	}
	return h.trustReport(id, r), nil
}

func (h *Host) trustReport(id protocol.ProjectID, r *trust.Report) *protocol.TrustReport {
	out := &protocol.TrustReport{ProjectID: id, Root: r.Root, State: stateOf(r), Hash: r.Hash, Problem: r.Problem, Items: []protocol.TrustItem{}}
	if !r.TrustedAt.IsZero() {
		out.TrustedAt = r.TrustedAt.UnixMilli()
	}
	if r.Warning != "" {
		out.Notices = append(out.Notices, r.Warning)
	}
	for _, it := range r.Items {
		item := protocol.TrustItem{Kind: string(it.Kind), Name: it.Name, Status: string(it.Status), Problem: it.Problem, Does: it.Does, Gone: it.Gone}
		for _, f := range it.Files {
			item.Files = append(item.Files, protocol.TrustFile{Name: f.Name, Target: f.Target, SHA256: f.SHA256, Size: f.Size, Change: f.Change})
		}
		if it.Kind == trust.KindConfig {
			item.Does = h.configDoes(r.Root)
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// configDoes says what a project's configuration sets when it is trusted: what
// counts and what would, at most 20 lines of 300 bytes.
func (h *Host) configDoes(root string) (lines []string) {
	const most, long = 20, 300
	cfg, notices, err := h.readConfig(root)
	if err != nil {
		return []string{"it cannot be used: " + err.Error()}
	}
	for _, s := range cfg.Settings(nil) {
		if s.Source.Kind == config.SourceProject {
			lines = append(lines, "sets "+s.Key+" = "+s.Value)
		}
	}
	for _, n := range notices {
		if n.Untrusted {
			lines = append(lines, "would set "+n.Key+" = "+n.Value)
		}
	}
	if len(lines) > most {
		lines = append(lines[:most-1], fmt.Sprintf("and %d more", len(lines)-most+1))
	}
	for i, l := range lines {
		if len(l) > long {
			lines[i] = strings.ToValidUTF8(l[:long], "") + "…"
		}
	}
	return lines
}

// trustProject trusts the files that were shown, or nothing of a project.
func (h *Host) trustProject(ctx context.Context, r *protocol.TrustProject) (*protocol.ProjectTrust, error) {
	root, err := h.projectRoot(r.ProjectID)
	if err != nil {
		return nil, err
	}
	aside := ""
	if r.Trusted {
		_, aside, err = h.trust.Trust(ctx, root, r.Hash)
	} else {
		_, aside, err = h.trust.Revoke(root)
	}
	if err != nil {
		return nil, h.trustError(r.ProjectID, err)
	}
	h.broadcast(&protocol.ProjectsChanged{})
	var notices []config.Notice
	if _, notices, err = h.readConfig(root); err != nil && r.Trusted {
		return nil, err
	}
	t, err := h.projectTrust(ctx, root, notices)
	if err != nil {
		if r.Trusted {
			return nil, err
		}
		t = &protocol.ProjectTrust{State: protocol.TrustNone} // the folder is gone
	}
	if aside != "" {
		t.Notices = append(t.Notices, "The damaged list of trusted folders was set aside as "+aside+".")
	}
	return t, nil
}

func (h *Host) trustError(id protocol.ProjectID, err error) error {
	var conflict *trust.ConflictError
	var path *fs.PathError
	switch {
	case errors.As(err, &conflict):
		pe := protocol.Errorf(protocol.CodeConflict, "%s.", sentence(err))
		if pe.Details, err = json.Marshal(h.trustReport(id, conflict.Report)); err != nil {
			return err
		}
		return pe
	case errors.As(err, &path):
		return storageError("keep the trusted folders", err)
	}
	return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", strings.TrimSuffix(sentence(err), "."))
}

// handleTrust registers the handlers of this file's requests.
func (h *Host) handleTrust(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.GetTrust) (protocol.Response, error) {
		return h.getTrust(ctx, r.ProjectID)
	})
	on(t, func(ctx context.Context, _ *target, r *protocol.TrustProject) (protocol.Response, error) {
		return h.trustProject(ctx, r)
	})
}
