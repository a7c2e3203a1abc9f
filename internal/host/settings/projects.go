package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"scorel/internal/host/failure"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// ProjectOf returns the project of a canonical folder, "" where it is not registered.
func (st *Settings) ProjectOf(dir string) protocol.ProjectID {
	root, _ := workspace.Root(dir, st.UserHome)
	data, err := disk.ReadFile(st.FS, filepath.Join(st.Dir, "projects.json"), MaxProjectsFile)
	if err != nil {
		return ""
	}
	id, _ := FindProject(data, root)
	return id
}

// maxProjects bounds the registry; the oldest project goes first.
const MaxProjects = 10_000

// maxProjectsFile bounds the registry's file, in bytes.
const MaxProjectsFile = 8 << 20

// ProjectsFile is the registry as it is stored.
type ProjectsFile struct {
	Version  int             `json:"version"`
	Projects []ProjectRecord `json:"projects"`
}

type ProjectRecord struct {
	ProjectID protocol.ProjectID `json:"projectId"`
	Root      string             `json:"root"` // canonical
	// Wide says that a person allowed it as a workspace though it is a home or /.
	Wide bool `json:"wide,omitempty"`
}

// Projects reads the registry; a missing one is empty.
func (st *Settings) Projects() (ProjectsFile, error) {
	var f ProjectsFile
	name := filepath.Join(st.Dir, "projects.json")
	data, err := disk.ReadFile(st.FS, name, MaxProjectsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && json.Unmarshal(data, &f) != nil {
		err = fmt.Errorf("%s is damaged; move it away and try again", name)
	}
	if err != nil {
		return f, failure.Storage("read the projects", err)
	}
	return f, nil
}

// ProjectRoot returns the folder of a registered project.
func (st *Settings) ProjectRoot(id protocol.ProjectID) (string, error) {
	f, err := st.Projects()
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

func FindProject(data []byte, root string) (id protocol.ProjectID, wide bool) {
	var f ProjectsFile
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
