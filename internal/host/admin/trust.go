package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/trust"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// maxIgnored is how many names a summary of trust holds, and maxIgnoredName how
// many bytes each has: the answer to trust_project is remembered.
const (
	maxIgnored     = 5
	maxIgnoredName = 100
)

// look returns how a project's files stand, by one of the two looks of the store.
func look(ctx context.Context, root string, how func(context.Context, string) (*trust.Report, error)) (*trust.Report, error) {
	r, err := how(ctx, root)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return r, nil
}

// projectTrust sums up how a project's files stand. Notices are those of its
// configuration, which say what of it would count.
func (ad *Admin) projectTrust(ctx context.Context, root string, notices []config.Notice) (*protocol.ProjectTrust, error) {
	r, err := look(ctx, root, ad.settings.Trust.Status)
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
		case trust.KindHook, trust.KindProgram: // the file that names it stands for it
			continue
		case trust.KindSettings:
			name += " (hooks)"
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

// untrustedKeys returns the keys that would count in a trusted project.
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

// configTrust returns the state of a project's configuration file, "" without one.
func (ad *Admin) configTrust(ctx context.Context, root string) (string, error) {
	r, err := look(ctx, root, ad.settings.Trust.Status)
	if err != nil {
		return "", err
	}
	if it := r.Find(trust.KindConfig, settings.ProjectFile); it != nil {
		return string(it.Status), nil
	}
	return "", nil
}

// getTrust returns what of a project could act, file by file.
func (ad *Admin) getTrust(ctx context.Context, id protocol.ProjectID) (*protocol.TrustReport, error) {
	root, err := ad.settings.ProjectRoot(id)
	if err != nil {
		return nil, err
	}
	r, err := look(ctx, root, ad.settings.Trust.Look)
	if err != nil {
		return nil, err
	}
	return ad.trustReport(id, r), nil
}

func (ad *Admin) trustReport(id protocol.ProjectID, r *trust.Report) *protocol.TrustReport {
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
			item.Does = append(slices.Clone(it.Does), ad.configDoes(r.Root)...) // each hook is shown whole
		}
		out.Items = append(out.Items, item)
	}
	var err error
	if out.Servers, err = ad.servers.OfProject(r.Root); err != nil {
		out.Notices = append(out.Notices, failure.Sentence(err)+".")
	}
	return out
}

// configDoes returns what a project's configuration sets when it is trusted: what
// counts and what would, at most 20 lines of 300 bytes.
func (ad *Admin) configDoes(root string) (lines []string) {
	const most, long = 20, 300
	cfg, notices, err := ad.settings.Read(root)
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
func (ad *Admin) trustProject(ctx context.Context, r *protocol.TrustProject) (*protocol.ProjectTrust, error) {
	root, err := ad.settings.ProjectRoot(r.ProjectID)
	if err != nil {
		return nil, err
	}
	aside := ""
	if len(r.WithoutServers) > 0 { // before they could count
		if err := ad.servers.LeaveOut(root, r.WithoutServers); err != nil {
			return nil, err
		}
	}
	if r.Trusted {
		_, aside, err = ad.settings.Trust.Trust(ctx, root, r.Hash)
	} else {
		_, aside, err = ad.settings.Trust.Revoke(root)
	}
	if err != nil {
		return nil, ad.trustError(r.ProjectID, err)
	}
	ad.announcer.Broadcast(&protocol.ProjectsChanged{})
	ad.heartbeats.AlignHeartbeats(ctx, root)
	var notices []config.Notice
	if _, notices, err = ad.settings.Read(root); err != nil && r.Trusted {
		return nil, err
	}
	t, err := ad.projectTrust(ctx, root, notices)
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

func (ad *Admin) trustError(id protocol.ProjectID, err error) error {
	var conflict *trust.ConflictError
	var path *fs.PathError
	switch {
	case errors.As(err, &conflict):
		pe := protocol.Errorf(protocol.CodeConflict, "%s.", failure.Sentence(err))
		if pe.Details, err = json.Marshal(ad.trustReport(id, conflict.Report)); err != nil {
			return err
		}
		return pe
	case errors.As(err, &path):
		return failure.Storage("keep the trusted folders", err)
	}
	return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", strings.TrimSuffix(failure.Sentence(err), "."))
}

// handleTrust enters the handlers of this file's requests.
func (ad *Admin) handleTrust(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.GetTrust) (protocol.Response, error) {
		return ad.getTrust(ctx, r.ProjectID)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.TrustProject) (protocol.Response, error) {
		return ad.trustProject(ctx, r)
	})
}
