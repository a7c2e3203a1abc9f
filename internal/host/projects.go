package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
func (h *Host) registerProject(_ context.Context, workDir string) (*protocol.Project, error) {
	dir, err := canonicalDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir)
	p := &protocol.Project{Root: root, WorkDir: dir}
	if _, p.Notices, err = h.readConfig(root); err != nil {
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
	return p, nil
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
	return protocol.Errorf(protocol.CodeInvalidRequest, "The working directory %s does not exist here; name another with --cwd DIR.", dir)
}
