package settings

import (
	"path/filepath"

	"scorel/internal/engine/permission/rules"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Remember stores a rule that a person answered "always" to.
func (st *Settings) Remember(meta protocol.Meta, rule string) error {
	root, _ := workspace.Root(meta.WorkDir, st.UserHome)
	return st.AllowIn(root, []string{rule})
}

// AllowIn stores rules that a person allows in the project at root for good. Each entry
// is a rule, or several separated by commas. Where one cannot be stored, those before it
// are.
func (st *Settings) AllowIn(root string, list []string) error {
	name := st.RulesFile()
	lock, err := disk.WaitLock(st.FS, name+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	for _, rule := range list {
		err := rules.Add(name, root, rule, st.ReadRules, func(name string, data []byte) error {
			return disk.WriteFile(st.FS, name, data)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (st *Settings) RulesFile() string { return filepath.Join(st.Dir, "rules.json") }

func (st *Settings) ReadRules(name string) ([]byte, error) {
	return disk.ReadFile(st.FS, name, rules.MaxFile)
}
