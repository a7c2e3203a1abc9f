package admin

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/host/asides"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Register makes the project of a working directory known, and with wide allows
// it as a workspace however much of the machine it is.
func (ad *Admin) Register(ctx context.Context, workDir string, wide bool) (*protocol.Project, error) {
	p, err := ad.register(ctx, workDir, wide)
	if err == nil {
		ad.heartbeats.AlignHeartbeats(ctx, p.Root)
	}
	return p, err
}

func (ad *Admin) register(ctx context.Context, workDir string, wide bool) (*protocol.Project, error) {
	p, err := ad.describe(ctx, workDir)
	if err != nil {
		return nil, err
	}
	wide = wide && p.Wide != ""
	if p.ProjectID, p.WideAllowed = ad.settings.FindProject(p.Root); p.ProjectID != "" && (p.WideAllowed || !wide) {
		return p, nil
	}
	p.WideAllowed = p.WideAllowed || wide
	if ad.settings.Ephemeral { // nothing of this host is kept
		p.ProjectID = protocol.NewProjectID(ad.settings.Rand)
		return p, nil
	}
	former, rebuilt := ad.formerID(ctx, p.Root)
	if p.ProjectID, err = ad.keepProject(p.Root, wide, former, rebuilt); err != nil {
		return nil, failure.Storage("register the project", err)
	}
	ad.announcer.Broadcast(&protocol.ProjectsChanged{})
	return p, nil
}

// describe returns the project of a working directory as clients are told of it, without
// what the registry knows.
func (ad *Admin) describe(ctx context.Context, workDir string) (*protocol.Project, error) {
	dir, err := ad.settings.WorkDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, ad.settings.UserHome)
	p := &protocol.Project{Root: root, WorkDir: dir, Wide: widthOf(root, ad.settings.UserHome)}
	cfg, notices, err := ad.settings.Read(root)
	if err != nil {
		return nil, err
	}
	for _, n := range notices {
		if !n.Untrusted { // these stand in Trust
			p.Notices = append(p.Notices, n.Text)
		}
	}
	if text := ad.boxes.Notice(cfg); text != "" {
		p.Notices = append(p.Notices, text)
	}
	p.Trust, err = ad.projectTrust(ctx, root, notices)
	return p, err
}

// formerID returns the id that the newest session of a project has, so that its sessions are
// still its own after the registry was damaged or lost. It is "" where it was not. Rebuilt says
// that the registry is begun though there are sessions.
func (ad *Admin) formerID(ctx context.Context, root string) (id protocol.ProjectID, rebuilt bool) {
	f, err := ad.settings.Projects()
	none := ad.settings.NoProjects()
	if !none && !f.Rebuilt && !settings.DamagedProjects(err) && len(asides.Of(ad.settings.FS, ad.settings.Dir, settings.ProjectsName)) == 0 {
		return "", false
	}
	for s, err := range ad.store.List(ctx, session.Query{}) {
		if err != nil {
			return "", rebuilt
		}
		rebuilt = none
		if rel, err := filepath.Rel(root, s.Meta.WorkDir); err != nil || !filepath.IsLocal(rel) || s.Meta.ProjectID == "" {
			continue
		}
		if of, _ := workspace.Root(s.Meta.WorkDir, ad.settings.UserHome); of == root {
			return s.Meta.ProjectID, rebuilt
		}
	}
	return "", rebuilt
}

// keepProject stores a project and returns its id: the former one, where it had one that no
// other project has now.
func (ad *Admin) keepProject(root string, wide bool, former protocol.ProjectID, rebuilt bool) (id protocol.ProjectID, err error) {
	err = ad.settings.UpdateProjects(func(f *settings.ProjectsFile) {
		f.Rebuilt = f.Rebuilt || rebuilt
		if at := slices.IndexFunc(f.Projects, func(r settings.ProjectRecord) bool { return r.Root == root }); at >= 0 {
			f.Projects[at].Wide = f.Projects[at].Wide || wide
			id = f.Projects[at].ProjectID
		} else {
			taken := slices.ContainsFunc(f.Projects, func(r settings.ProjectRecord) bool { return r.ProjectID == former })
			if id = former; former == "" || taken {
				id = protocol.NewProjectID(ad.settings.Rand)
			}
			f.Projects = append(f.Projects, settings.ProjectRecord{ProjectID: id, Root: root, Wide: wide})
		}
		if n := len(f.Projects); n > settings.MaxProjects {
			f.Projects = f.Projects[n-settings.MaxProjects:]
		}
	})
	return id, err
}

// removeProject takes a project off the list. A folder that is trusted stays
// listed as such, without an id, until it is not. A repeat that does not find the
// project has done it before.
func (ad *Admin) removeProject(id protocol.ProjectID, repeat bool) error {
	root, err := ad.settings.ProjectRoot(id)
	if err != nil {
		var pe *protocol.Error
		if repeat && errors.As(err, &pe) && pe.Code == protocol.CodeProjectNotFound {
			return nil
		}
		return err
	}
	err = ad.settings.UpdateProjects(func(f *settings.ProjectsFile) {
		f.Projects = slices.DeleteFunc(f.Projects, func(p settings.ProjectRecord) bool { return p.ProjectID == id })
	})
	if err != nil {
		return failure.Storage("remove the project", err)
	}
	ad.files.Forget(id)
	ad.heartbeats.ForgetHeartbeats(root)
	ad.announcer.Broadcast(&protocol.ProjectsChanged{})
	return nil
}

// listProjects returns the registered projects and the trusted folders, by path.
func (ad *Admin) listProjects() (*protocol.ProjectList, error) {
	f, err := ad.settings.Projects()
	damage := ""
	switch {
	case settings.DamagedProjects(err):
		damage = failure.Sentence(err) + "."
	case err != nil:
		return nil, err
	}
	trusted, warning := ad.settings.Trust.List()
	at := map[string]int64{}
	for _, t := range trusted {
		at[t.Root] = t.TrustedAt.UnixMilli()
	}
	list := &protocol.ProjectList{Projects: []protocol.Project{}}
	for _, p := range f.Projects {
		list.Projects = append(list.Projects, protocol.Project{ProjectID: p.ProjectID, Root: p.Root, WorkDir: p.Root, TrustedAt: at[p.Root]})
		delete(at, p.Root)
	}
	for root, when := range at { // those that the registry has dropped
		list.Projects = append(list.Projects, protocol.Project{Root: root, WorkDir: root, TrustedAt: when})
	}
	slices.SortFunc(list.Projects, func(a, b protocol.Project) int { return strings.Compare(a.Root, b.Root) })
	for _, text := range []string{damage, warning} {
		if text != "" {
			list.Notices = append(list.Notices, text)
		}
	}
	for _, name := range []string{settings.ProjectsName, "trust.json"} {
		list.Notices = append(list.Notices, asides.Of(ad.settings.FS, ad.settings.Dir, name)...)
	}
	return list, nil
}

// widthOf returns how wide a workspace is, as clients are told.
func widthOf(root, home string) protocol.Width {
	switch workspace.WidthOf(root, home) {
	case workspace.Everything:
		return protocol.WidthRoot
	case workspace.Home:
		return protocol.WidthHome
	}
	return ""
}

// handleProjects enters the handlers of this file's requests.
func (ad *Admin) handleProjects(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.RegisterProject) (protocol.Response, error) {
		return ad.Register(ctx, r.WorkDir, r.Wide)
	})
	request.On(t, func(_ context.Context, _ *request.Target, _ *protocol.ListProjects) (protocol.Response, error) {
		return ad.listProjects()
	})
	request.On(t, func(_ context.Context, at *request.Target, r *protocol.RemoveProject) (protocol.Response, error) {
		return &protocol.Done{}, ad.removeProject(r.ProjectID, at.Call.Repeat)
	})
}
