package host

import (
	"cmp"
	"context"

	"scorel/internal/engine/config"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// box is how the commands of a turn are confined.
type box struct {
	profile *sandbox.Profile // nil: not at all; its TempDir is made with the first command
	missing string           // what people are told with each question, "" when all holds
}

// show lets commands read and run what lies in folders of Scorel's own.
func (b *box) show(folders []string) {
	if b.profile != nil {
		b.profile.Shown = folders
	}
}

// sandbox gives what confines the commands of a session. Where the system can
// hold nothing, commands run unconfined, every question says so, and so does the
// session's diagnostics once; but not where the user asked for more than the
// default: what must not write or reach the network does not run.
func (h *Host) sandbox(id protocol.SessionID, cfg config.Config, over Overrides, root string) (box, error) {
	mode, err := sandbox.ParseMode(cmp.Or(over.Sandbox, cfg.Sandbox.Mode))
	if err != nil {
		return box{}, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	network := cfg.Sandbox.Network && !over.NoNetwork
	if mode == sandbox.Off {
		if !network {
			return box{}, protocol.Errorf(protocol.CodeInvalidRequest, "Without a sandbox the network cannot be taken away from commands; set sandbox.mode to workspace-write or read-only, or sandbox.network to true.")
		}
		return box{missing: "The sandbox is off: the command can do all that you can."}, nil
	}
	s := h.cfg.Confinement()
	if s.Level == sandbox.Unconfined && mode == sandbox.WorkspaceWrite && network {
		h.tellUnconfined(id, s.Missing)
		return box{missing: s.Missing}, nil
	}
	p := &sandbox.Profile{Mode: mode, Network: network, Home: h.cfg.UserHome, Closed: h.ownFolders(), Environ: h.cfg.Environ, Roots: h.writable(cfg, over, root)}
	if dir, err := sandbox.CacheDir(h.cfg.UserHome, root); err == nil {
		p.CacheDir = dir // else the caches are in the temporary folder
	}
	if cfg.Sandbox.SSHAgent {
		p.Agent, _ = h.lookupEnv("SSH_AUTH_SOCK")
	}
	if s.Missing != "" {
		h.tellUnconfined(id, s.Missing)
	}
	return box{profile: p, missing: s.Missing}, nil
}

// probing gives a spawner for programs that are asked for their version: they
// were found on a PATH that somebody else may have written to. Where the system
// can, they write nothing and reach no network. Call done when they have ended.
func (h *Host) probing() (start sandbox.Spawner, done func(), err error) {
	if h.cfg.Confinement().Level == sandbox.Unconfined {
		return sandbox.New(sandbox.Config{}), func() {}, nil
	}
	base, _ := h.lookupEnv("TMPDIR")
	t, err := sandbox.NewTemp(sandbox.TempBase(base, h.ownFolders()), "doctor")
	if err != nil {
		return nil, nil, err
	}
	p := &sandbox.Profile{Mode: sandbox.ReadOnly, Home: h.cfg.UserHome, Closed: h.ownFolders(), TempDir: t.Dir, Environ: h.cfg.Environ}
	return sandbox.New(sandbox.Config{Profile: p}), func() { _ = t.Close() }, nil
}

// sandboxNotice is what people are told beforehand where the sandbox does not
// hold all that it promises, "" where it does, or where they switched it off.
func (h *Host) sandboxNotice(cfg config.Config) string {
	if cmp.Or(h.cfg.Overrides.Sandbox, cfg.Sandbox.Mode) == string(sandbox.Off) {
		return ""
	}
	if s := h.cfg.Confinement(); s.Missing != "" {
		return s.Missing + " scorel doctor says what to do."
	}
	return ""
}

// confines says whether the commands of a session are confined.
func (h *Host) confines(meta protocol.Meta) bool {
	root, _ := workspace.Root(meta.WorkDir, h.cfg.UserHome)
	cfg, err := h.loadConfig(root)
	return err == nil && cmp.Or(h.cfg.Overrides.Sandbox, cfg.Sandbox.Mode) != string(sandbox.Off) && h.cfg.Confinement().Level != sandbox.Unconfined
}

// ownFolders are the folders of Scorel itself.
func (h *Host) ownFolders() []string {
	if h.cfg.StoreDir == h.cfg.Dir {
		return []string{h.cfg.Dir}
	}
	return []string{h.cfg.Dir, h.cfg.StoreDir}
}

// confiner starts the commands of a session in its box.
type confiner struct {
	h   *Host
	id  protocol.SessionID
	box box
}

// Start implements [sandbox.Spawner]. The folder for temporary files is made with
// the first command: most turns run none, and a session may never be opened.
func (c confiner) Start(ctx context.Context, cmd sandbox.Cmd) (sandbox.Child, error) {
	config := sandbox.Config{RunDir: c.h.runDir(c.id)}
	if c.box.profile != nil {
		p := *c.box.profile
		var err error
		if p.TempDir, err = c.h.temp(c.id); err != nil {
			return nil, err
		}
		config.Profile = &p
	}
	return sandbox.New(config).Start(ctx, cmd)
}

// temp gives the private folder for temporary files of an open session, which is
// there until the session is closed. Calls that run side by side share it.
func (h *Host) temp(id protocol.SessionID) (string, error) {
	h.tempMu.Lock()
	defer h.tempMu.Unlock()
	h.mu.Lock()
	t := h.temps[id]
	h.mu.Unlock()
	if t != nil {
		return t.Dir, nil
	}
	base, _ := h.lookupEnv("TMPDIR")
	t, err := sandbox.NewTemp(sandbox.TempBase(base, h.ownFolders()), string(id))
	if err != nil {
		return "", err
	}
	h.mu.Lock()
	h.temps[id] = t
	h.mu.Unlock()
	return t.Dir, nil
}

func (h *Host) closeTemp(id protocol.SessionID) {
	h.mu.Lock()
	t := h.temps[id]
	delete(h.temps, id)
	delete(h.told, id)
	h.mu.Unlock()
	if t == nil {
		return
	}
	if err := t.Close(); err != nil {
		h.report(id, "remove temporary files: "+err.Error(), nil)
	}
}

// tellUnconfined notes in the diagnostics of a session, once while it is open,
// what the sandbox does not hold.
func (h *Host) tellUnconfined(id protocol.SessionID, missing string) {
	h.mu.Lock()
	told := h.told[id]
	h.told[id] = true
	h.mu.Unlock()
	if !told {
		h.report(id, "sandbox: "+missing, nil)
	}
}
