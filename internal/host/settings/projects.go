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
	id, _ := st.FindProject(root)
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
	// Rebuilt says that the file was begun when there were sessions already: the one before
	// it was lost, and projects take their ids back from their sessions.
	Rebuilt bool `json:"rebuilt,omitempty"`
}

type ProjectRecord struct {
	ProjectID protocol.ProjectID `json:"projectId"`
	Root      string             `json:"root"` // canonical
	// Wide says that a person allowed it as a workspace though it is a home or /.
	Wide bool `json:"wide,omitempty"`
}

// ProjectsName is the name of the registry's file in the user's Scorel folder.
const ProjectsName = "projects.json"

// errDamagedProjects is in the chain of errors about a registry that is damaged.
var errDamagedProjects = errors.New("no project is known")

// DamagedProjects reports whether an error of [Settings.Projects] says that the registry is
// damaged. [Settings.UpdateProjects] sets it aside then.
func DamagedProjects(err error) bool { return errors.Is(err, errDamagedProjects) }

// NoProjects reports whether there is no file of the registry.
func (st *Settings) NoProjects() bool {
	_, err := st.FS.Stat(filepath.Join(st.Dir, ProjectsName))
	return errors.Is(err, fs.ErrNotExist)
}

// Projects reads the registry; a missing one is empty.
func (st *Settings) Projects() (f ProjectsFile, err error) {
	name := filepath.Join(st.Dir, ProjectsName)
	data, err := disk.ReadFile(st.FS, name, MaxProjectsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		if f, err = parseProjects(data); err != nil {
			return f, fmt.Errorf("%w, because %s is damaged; the next project that you use begins a new list and keeps the old one beside it", errDamagedProjects, name)
		}
	}
	if err != nil {
		return f, failure.Storage("read the projects", err)
	}
	return f, nil
}

// parseProjects reads the registry's file; nil is none. An empty one, or one without a version,
// was not written by this package.
func parseProjects(data []byte) (f ProjectsFile, err error) {
	if data == nil {
		return f, nil
	}
	if err = json.Unmarshal(data, &f); err == nil && f.Version < 1 {
		err = errors.New("it has no version")
	}
	if err != nil {
		return ProjectsFile{}, err
	}
	return f, nil
}

// UpdateProjects changes the registry, and returns when that is durable. A damaged one is set
// aside with [disk.SetAside], by which people are told of it.
func (st *Settings) UpdateProjects(change func(*ProjectsFile)) error {
	name := filepath.Join(st.Dir, ProjectsName)
	return disk.Update(st.FS, name, MaxProjectsFile, func(old []byte) ([]byte, error) {
		f, err := parseProjects(old)
		if err != nil {
			if _, err := disk.SetAside(st.FS, name, st.Now()); err != nil {
				return nil, fmt.Errorf("%s is damaged and cannot be set aside: %w", name, err)
			}
		}
		f.Version = 1
		change(&f)
		data, err := json.MarshalIndent(f, "", "  ")
		return append(data, '\n'), err
	})
}

// ProjectRoot returns the folder of a registered project.
func (st *Settings) ProjectRoot(id protocol.ProjectID) (string, error) {
	f, err := st.Projects()
	if DamagedProjects(err) {
		return "", protocol.About("projectId", "", protocol.CodeProjectNotFound, "%s.", failure.Sentence(err))
	}
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

// FindProject returns the id of the project at a root, "" where it is not registered or that
// cannot be read, and whether a person allowed it though it is wide.
func (st *Settings) FindProject(root string) (id protocol.ProjectID, wide bool) {
	f, err := st.Projects()
	if err != nil {
		return "", false
	}
	for _, p := range f.Projects {
		if p.Root == root {
			return p.ProjectID, p.Wide
		}
	}
	return "", false
}
