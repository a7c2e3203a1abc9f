package confinement

import (
	"cmp"

	"scorel/internal/engine/config"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Box is how the commands of a turn are confined.
type Box struct {
	Profile *sandbox.Profile // nil: not at all; its TempDir is made with the first command
	Missing string           // what people are told with each question, "" when all holds
}

// Show lets commands read and run what lies in folders of Scorel's own.
func (b *Box) Show(folders []string) {
	if b.Profile != nil {
		b.Profile.Shown = folders
	}
}

// Box returns what confines the commands of a session. Where the system can
// hold nothing, commands run unconfined, every question says so, and so does the
// session's diagnostics once; but not where the user asked for more than the
// default: what must not write or reach the network does not run.
func (bs *Boxes) Box(id protocol.SessionID, cfg config.Config, over settings.Overrides, root string) (Box, error) {
	mode, err := sandbox.ParseMode(cmp.Or(over.Sandbox, cfg.Sandbox.Mode))
	if err != nil {
		return Box{}, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	network := cfg.Sandbox.Network && !over.NoNetwork
	if mode == sandbox.Off {
		if !network {
			return Box{}, protocol.Errorf(protocol.CodeInvalidRequest, "Without a sandbox the network cannot be taken away from commands; set sandbox.mode to workspace-write or read-only, or sandbox.network to true.")
		}
		return Box{Missing: "The sandbox is off: the command can do all that you can."}, nil
	}
	s := bs.settings.Confinement()
	if s.Level == sandbox.Unconfined && mode == sandbox.WorkspaceWrite && network {
		bs.noteUnconfined(id, s.Missing)
		return Box{Missing: s.Missing}, nil
	}
	p := &sandbox.Profile{Mode: mode, Network: network, Home: bs.settings.UserHome, Closed: bs.settings.OwnFolders(), Environ: bs.settings.Environ, Roots: bs.settings.Writable(cfg, over, root)}
	if dir, err := sandbox.CacheDir(bs.settings.UserHome, root); err == nil {
		p.CacheDir = dir // else the caches are in the temporary folder
	}
	if cfg.Sandbox.SSHAgent {
		p.Agent, _ = bs.settings.LookupEnv("SSH_AUTH_SOCK")
	}
	if s.Missing != "" {
		bs.noteUnconfined(id, s.Missing)
	}
	return Box{Profile: p, Missing: s.Missing}, nil
}

// Probe returns a spawner for programs that are asked for their version: they
// were found on a PATH that somebody else may have written to. Where the system
// can, they write nothing and reach no network. Call done when they have ended.
func (bs *Boxes) Probe() (start sandbox.Spawner, done func(), err error) {
	if bs.settings.Confinement().Level == sandbox.Unconfined {
		return sandbox.New(sandbox.Config{}), func() {}, nil
	}
	base, _ := bs.settings.LookupEnv("TMPDIR")
	t, err := sandbox.NewTemp(sandbox.TempBase(base, bs.settings.OwnFolders()), "doctor")
	if err != nil {
		return nil, nil, err
	}
	p := &sandbox.Profile{Mode: sandbox.ReadOnly, Home: bs.settings.UserHome, Closed: bs.settings.OwnFolders(), TempDir: t.Dir, Environ: bs.settings.Environ}
	return sandbox.New(sandbox.Config{Profile: p}), func() { _ = t.Close() }, nil
}

// Notice is what people are told beforehand where the sandbox does not
// hold all that it promises, "" where it does, or where they switched it off.
func (bs *Boxes) Notice(cfg config.Config) string {
	if cmp.Or(bs.settings.Overrides.Sandbox, cfg.Sandbox.Mode) == string(sandbox.Off) {
		return ""
	}
	if s := bs.settings.Confinement(); s.Missing != "" {
		return s.Missing + " scorel doctor says what to do."
	}
	return ""
}

// Confines reports whether the commands of a session are confined.
func (bs *Boxes) Confines(meta protocol.Meta) bool {
	root, _ := workspace.Root(meta.WorkDir, bs.settings.UserHome)
	cfg, err := bs.settings.Load(root)
	return err == nil && cmp.Or(bs.settings.Overrides.Sandbox, cfg.Sandbox.Mode) != string(sandbox.Off) && bs.settings.Confinement().Level != sandbox.Unconfined
}
