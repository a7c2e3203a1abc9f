package settings

import (
	"path/filepath"

	"scorel/internal/engine/config"
	"scorel/internal/engine/trust"
	"scorel/protocol"
)

func (st *Settings) User() (config.Config, error) {
	return config.Load(filepath.Join(st.Dir, "config.toml"))
}

// Files reads the user's and the project's configuration, and reports whether exactly
// these bytes of the project's are trusted.
func (st *Settings) Files(root string) (user, project config.File, warning string, err error) {
	fail := func(err error) (config.File, config.File, string, error) {
		return config.File{}, config.File{}, "", protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if user, err = config.Read(st.File()); err != nil {
		return fail(err)
	}
	project.Name = projectConfigOf(root)
	if project.Data, project.Trusted, warning, err = st.Trust.Read(root, trust.KindConfig, ProjectFile, config.MaxFile); err != nil {
		return fail(err)
	}
	return user, project, warning, nil
}

// Load reads the user's and the project's configuration. What a project's
// file may not set is told when the project is registered.
func (st *Settings) Load(root string) (config.Config, error) {
	cfg, _, err := st.Read(root)
	return cfg, err
}

// Read reads both files. A project's counts by whether exactly the bytes
// that are parsed are trusted.
func (st *Settings) Read(root string) (config.Config, []config.Notice, error) {
	user, project, warning, err := st.Files(root)
	if err != nil {
		return config.Config{}, nil, err
	}
	cfg, notices, err := config.Parse(user, project, st.Usable)
	if err != nil {
		return config.Config{}, nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if warning != "" {
		notices = append(notices, config.Notice{Text: warning})
	}
	notices = append(notices, st.withClaude(&cfg, root)...)
	return cfg, notices, nil
}

// projectConfig is the name of a project's configuration.
const ProjectFile = ".scorel/config.toml"

func projectConfigOf(root string) string { return filepath.Join(root, ProjectFile) }

// File is the user's configuration.
func (st *Settings) File() string { return filepath.Join(st.Dir, "config.toml") }
