package admin

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/progress"
	"scorel/internal/host/doctor"
	"scorel/internal/host/failure"
	"scorel/internal/host/library"
	"scorel/internal/host/request"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// doctor runs all checks. The list is the place for those of further parts.
func (ad *Admin) doctor(ctx context.Context, r *protocol.Doctor) (*protocol.DoctorReport, error) {
	dir, root := ad.settings.UserHome, ""
	if r.WorkDir != "" {
		var err error
		if dir, err = ad.settings.LookedAt(r.WorkDir); err != nil {
			return nil, err
		}
		root, _ = workspace.Root(dir, ad.settings.UserHome)
	}
	checks := []doctor.Check{
		doctor.Home(ad.settings.Dir, os.Getuid()),
		doctor.Space(ad.settings.FS, ad.settings.Dir),
		doctor.Folders(ad.ownFolders()...),
		doctor.Mount(ad.settings.Dir, disk.MountOf),
		{ID: filesCheck, Look: ad.checkFiles},
		{ID: "config", Look: ad.checkUserConfig},
		{ID: "keys", Look: ad.checkKeys},
		{ID: "credentials", Look: ad.checkCredentials},
		{ID: "model", Look: ad.checkModel},
		{ID: "rules", Look: ad.checkRules},
		{ID: "entries", Look: ad.checkEntries},
		{ID: "pushes", Look: ad.checkPushes},
		{ID: "mcp", Look: func(context.Context) doctor.Finding { return ad.checkMCP(root) }},
	}
	if root != "" {
		checks = append(checks, doctor.Check{ID: "project", Look: func(ctx context.Context) doctor.Finding { return ad.checkProject(ctx, root) }})
	}
	checks = append(checks, ad.heartbeatChecks(root)...)
	checks = append(checks, ad.claudeChecks(dir, root)...)
	checks = append(checks, ad.foreignChecks(root)...)
	cfg, cfgErr := ad.doctorConfig(root) // what is wrong with it the checks above say
	start, done, err := ad.boxes.Probe()
	if err != nil {
		checks = append(checks, doctor.Check{ID: "temporary", Look: func(context.Context) doctor.Finding {
			return doctor.Fail(failure.Sentence(err), "Until then commands do not start, and the programs were not looked at.")
		}})
	} else {
		defer done()
		except := ad.settings.Writable(cfg, ad.settings.Overrides, root)
		if root == "" {
			except = except[1:]
		}
		find := func(name string) string { return ad.settings.Program(name, except) }
		for _, p := range doctor.Programs() {
			checks = append(checks, doctor.Installed(p, find, start, sandbox.Environ(ad.settings.Environ, nil)))
		}
	}
	checks = append(checks,
		doctor.Sessions(ad.store),
		doctor.Children(ad.settings.FS, ad.settings.StoreDir),
		doctor.Blobs(ad.store.Blobs()),
		doctor.Processes(func(ctx context.Context) (progress.Usage, error) {
			return progress.Look(ctx, ad.settings.FS, ad.settings.StoreDir, ad.settings.Now().Add(-library.MinLogAge), ad.stored.HasLog)
		}),
		doctor.Clock(ad.settings.Now, filepath.Join(ad.settings.StoreDir, "sessions")),
		doctor.Memory(doctor.Heap, ad.counts),
	)
	if cfgErr == nil {
		mode, err := sandbox.ParseMode(cmp.Or(ad.settings.Overrides.Sandbox, cfg.Sandbox.Mode))
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
		}
		checks = append(checks, doctor.Sandbox(mode, cfg.Sandbox.Network && !ad.settings.Overrides.NoNetwork, ad.settings.Confinement())...)
	}
	found := slices.DeleteFunc(doctor.Run(ctx, checks), func(c protocol.DoctorCheck) bool {
		return c.Text == "" && (c.ID == filesCheck || strings.HasPrefix(c.ID, claudeCheck) || strings.HasPrefix(c.ID, otherCheck)) // there is nothing of the kind
	})
	return &protocol.DoctorReport{Checks: found}, nil
}

// ownFolders are those in which something is stored while Scorel is used.
func (ad *Admin) ownFolders() (dirs []string) {
	for _, name := range []string{"sessions", "pending", "blobs", "run", "processes"} {
		dirs = append(dirs, filepath.Join(ad.settings.StoreDir, name))
	}
	return append(dirs, filepath.Join(ad.settings.Dir, "automation"), filepath.Join(ad.settings.Dir, "memory"))
}

// doctorConfig is the configuration in force in a project, or without one.
func (ad *Admin) doctorConfig(root string) (config.Config, error) {
	if root == "" {
		return ad.settings.User()
	}
	return ad.settings.Load(root)
}

// handleDoctor enters the handlers of this file's requests.
func (ad *Admin) handleDoctor(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.Doctor) (protocol.Response, error) {
		return ad.doctor(ctx, r)
	})
}
