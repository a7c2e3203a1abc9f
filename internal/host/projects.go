package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// maxProjects bounds the registry; the oldest project goes first.
const maxProjects = 10_000

// maxProjectsFile bounds the registry's file, in bytes.
const maxProjectsFile = 8 << 20

// projectsFile is the registry as it is stored.
type projectsFile struct {
	Version  int             `json:"version"`
	Projects []projectRecord `json:"projects"`
}

type projectRecord struct {
	ProjectID protocol.ProjectID `json:"projectId"`
	Root      string             `json:"root"` // canonical
	// Wide says that a person allowed it as a workspace though it is a home or /.
	Wide bool `json:"wide,omitempty"`
}

// registerProject makes the project of a working directory known, and with wide allows
// it as a workspace however much of the machine it is.
func (h *Host) registerProject(ctx context.Context, workDir string, wide bool) (*protocol.Project, error) {
	dir, err := h.workDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	p := &protocol.Project{Root: root, WorkDir: dir, Wide: widthOf(root, h.cfg.UserHome)}
	wide = wide && p.Wide != ""
	cfg, notices, err := h.readConfig(root)
	if err != nil {
		return nil, err
	}
	for _, n := range notices {
		if !n.Untrusted { // these stand in Trust
			p.Notices = append(p.Notices, n.Text)
		}
	}
	if text := h.sandboxNotice(cfg); text != "" {
		p.Notices = append(p.Notices, text)
	}
	if p.Trust, err = h.projectTrust(ctx, root, notices); err != nil {
		return nil, err
	}
	name := filepath.Join(h.cfg.Dir, "projects.json")
	if data, err := disk.ReadFile(h.cfg.FS, name, maxProjectsFile); err == nil {
		if p.ProjectID, p.WideAllowed = findProject(data, root); p.ProjectID != "" && (p.WideAllowed || !wide) {
			return p, nil
		}
	}
	p.WideAllowed = p.WideAllowed || wide
	if h.cfg.Ephemeral { // nothing of this host is kept
		p.ProjectID = protocol.NewProjectID(h.cfg.Rand)
		return p, nil
	}
	err = disk.Update(h.cfg.FS, name, maxProjectsFile, func(old []byte) ([]byte, error) {
		var f projectsFile
		if len(old) > 0 {
			if err := json.Unmarshal(old, &f); err != nil {
				return nil, fmt.Errorf("%s is damaged; move it away and try again", name)
			}
		}
		f.Version = 1
		if at := slices.IndexFunc(f.Projects, func(r projectRecord) bool { return r.Root == root }); at >= 0 {
			f.Projects[at].Wide = f.Projects[at].Wide || wide
			p.ProjectID = f.Projects[at].ProjectID
		} else {
			p.ProjectID = protocol.NewProjectID(h.cfg.Rand)
			f.Projects = append(f.Projects, projectRecord{p.ProjectID, root, wide})
		}
		if n := len(f.Projects); n > maxProjects {
			f.Projects = f.Projects[n-maxProjects:]
		}
		data, err := json.MarshalIndent(f, "", "  ")
		return append(data, '\n'), err
	})
	if err != nil {
		return nil, storageError("register the project", err)
	}
	h.broadcast(&protocol.ProjectsChanged{})
	return p, nil
}

// removeProject takes a project off the list. A folder that is trusted stays
// listed as such, without an id, until it is not. A repeat that does not find the
// project has done it before.
func (h *Host) removeProject(id protocol.ProjectID, repeat bool) error {
	name := filepath.Join(h.cfg.Dir, "projects.json")
	if _, err := h.projectRoot(id); err != nil {
		var pe *protocol.Error
		if repeat && errors.As(err, &pe) && pe.Code == protocol.CodeProjectNotFound {
			return nil
		}
		return err
	}
	err := disk.Update(h.cfg.FS, name, maxProjectsFile, func(old []byte) ([]byte, error) {
		var f projectsFile
		if err := json.Unmarshal(old, &f); err != nil {
			return nil, fmt.Errorf("%s is damaged; move it away and try again", name)
		}
		f.Projects = slices.DeleteFunc(f.Projects, func(p projectRecord) bool { return p.ProjectID == id })
		data, err := json.MarshalIndent(f, "", "  ")
		return append(data, '\n'), err
	})
	if err != nil {
		return storageError("remove the project", err)
	}
	h.trees.forget(id)
	h.broadcast(&protocol.ProjectsChanged{})
	return nil
}

// projects reads the registry; a missing one is empty.
func (h *Host) projects() (projectsFile, error) {
	var f projectsFile
	name := filepath.Join(h.cfg.Dir, "projects.json")
	data, err := disk.ReadFile(h.cfg.FS, name, maxProjectsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && json.Unmarshal(data, &f) != nil {
		err = fmt.Errorf("%s is damaged; move it away and try again", name)
	}
	if err != nil {
		return f, storageError("read the projects", err)
	}
	return f, nil
}

// listProjects gives the registered projects and the trusted folders, by path.
func (h *Host) listProjects() (*protocol.ProjectList, error) {
	f, err := h.projects()
	if err != nil {
		return nil, err
	}
	trusted, warning := h.trust.List()
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
	if warning != "" {
		list.Notices = append(list.Notices, warning)
	}
	return list, nil
}

// projectRoot gives the folder of a registered project.
func (h *Host) projectRoot(id protocol.ProjectID) (string, error) {
	f, err := h.projects()
	if err != nil {
		return "", err
	}
	for _, p := range f.Projects {
		if p.ProjectID == id && id != "" {
			return p.Root, nil
		}
	}
	return "", protocol.About("projectId", "", protocol.CodeProjectNotFound, "There is no project of that id; register its folder first.")
}

func findProject(data []byte, root string) (id protocol.ProjectID, wide bool) {
	var f projectsFile
	if json.Unmarshal(data, &f) != nil {
		return "", false
	}
	for _, p := range f.Projects {
		if p.Root == root {
			return p.ProjectID, p.Wide
		}
	}
	return "", false
}

// widthOf says how wide a workspace is, as clients are told.
func widthOf(root, home string) protocol.Width {
	switch workspace.WidthOf(root, home) {
	case workspace.Everything:
		return protocol.WidthRoot
	case workspace.Home:
		return protocol.WidthHome
	}
	return ""
}

// handleProjects registers the handlers of this file's requests.
func (h *Host) handleProjects(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.RegisterProject) (protocol.Response, error) {
		return h.registerProject(ctx, r.WorkDir, r.Wide)
	})
	on(t, func(_ context.Context, _ *target, _ *protocol.ListProjects) (protocol.Response, error) {
		return h.listProjects()
	})
	on(t, func(_ context.Context, at *target, r *protocol.RemoveProject) (protocol.Response, error) {
		return &protocol.Done{}, h.removeProject(r.ProjectID, at.call.Repeat)
	})
}
