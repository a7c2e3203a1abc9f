package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/disk"
	"scorel/internal/workspace"
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
}

// registerProject makes the project of a working directory known.
func (h *Host) registerProject(ctx context.Context, workDir string) (*protocol.Project, error) {
	dir, err := h.workDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	p := &protocol.Project{Root: root, WorkDir: dir}
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
		if p.ProjectID = findProject(data, root); p.ProjectID != "" {
			return p, nil
		}
	}
	if h.cfg.Ephemeral { // nothing of this host is kept
		p.ProjectID = protocol.NewProjectID(h.cfg.Rand)
		return p, nil
	}
	err = disk.Update(h.cfg.FS, name, maxProjectsFile, func(old []byte) ([]byte, error) {
		if p.ProjectID = findProject(old, root); p.ProjectID != "" {
			return old, nil
		}
		var f projectsFile
		if len(old) > 0 {
			if err := json.Unmarshal(old, &f); err != nil {
				return nil, fmt.Errorf("%s is damaged; move it away and try again", name)
			}
		}
		p.ProjectID = protocol.NewProjectID(h.cfg.Rand)
		f.Version = 1
		f.Projects = append(f.Projects, projectRecord{p.ProjectID, root})
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
	return "", protocol.Errorf(protocol.CodeProjectNotFound, "There is no project of that id; register its folder first.")
}

func findProject(data []byte, root string) protocol.ProjectID {
	var f projectsFile
	if json.Unmarshal(data, &f) != nil {
		return ""
	}
	for _, p := range f.Projects {
		if p.Root == root {
			return p.ProjectID
		}
	}
	return ""
}

// workDir gives the folder of a session without symlinks; Scorel's own is refused.
func (h *Host) workDir(dir string) (string, error) {
	dir, err := canonicalDir(dir)
	if err == nil && h.own(dir) {
		err = h.errOwn()
	}
	return dir, err
}

// canonicalDir gives a folder without symlinks, absolute.
func canonicalDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		if err := gone(dir, err); err != nil {
			return "", err
		}
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "The working directory %s cannot be used: %v.", dir, plain(err))
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "The working directory %s is not a folder.", dir)
	}
	return abs, nil
}

// gone says that a folder does not exist, and how to name another.
func gone(dir string, err error) error {
	if !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return protocol.About("workDir", protocol.ReasonFolder, protocol.CodeInvalidRequest, "The working directory %s does not exist here; name another.", dir)
}
