package turnconfig

import (
	"slices"

	"scorel/internal/engine/config"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Files opens the folders of a session.
func (tc *Maker) Files(meta protocol.Meta) (*files.Files, error) {
	dir, err := tc.settings.SessionDir(meta.WorkDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, tc.settings.UserHome)
	cfg, err := tc.settings.Load(root)
	if err != nil {
		return nil, err
	}
	return tc.OpenFiles(cfg, tc.settings.Overrides, root)
}

func (tc *Maker) OpenFiles(cfg config.Config, over settings.Overrides, root string, readable ...string) (*files.Files, error) {
	extra := slices.Concat(cfg.Directories(tc.settings.UserHome), over.AdditionalDirs)
	files, err := files.New(files.Config{Root: root, Additional: extra, Home: tc.settings.UserHome, Reach: tc.settings.Dir, Readable: readable})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return files, nil
}
