package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bounds of the file in which people switch extensions off.
const (
	maxSwitchFile  = 64 << 10 // bytes
	maxSwitchedOff = 1000
)

// switches is ~/.scorel/extensions.json: config.toml is never rewritten.
type switches struct {
	Disabled []string `json:"disabled"`
}

func (h *Host) switchFile() string { return filepath.Join(h.cfg.Dir, "extensions.json") }

func (h *Host) readSwitches() (switches, error) {
	var s switches
	data, err := disk.ReadFile(h.cfg.FS, h.switchFile(), maxSwitchFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("the list of extensions that are switched off cannot be read: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return switches{}, fmt.Errorf("%s is damaged; repair it or remove it: %w", h.switchFile(), err)
	}
	return s, nil
}

// switchedOff gives the ids of the extensions that are switched off, by people and by
// the configuration.
func (h *Host) switchedOff(root string) ([]string, error) {
	s, err := h.readSwitches()
	cfg, cerr := h.loadConfig(root)
	if err == nil {
		err = cerr
	}
	return slices.Concat(s.Disabled, cfg.Extensions.Disabled), err
}

// enableExtension switches an extension on or off for all sessions of the user. It
// counts in those that are open when they are reloaded.
func (h *Host) enableExtension(r *protocol.EnableExtension) error {
	if r.ID == "" || len(r.ID) > 100 {
		return protocol.About("id", "", protocol.CodeInvalidRequest, "Say which extension by its id, which has at most 100 bytes.")
	}
	if r.Enabled {
		if cfg, err := h.userConfig(); err == nil && slices.Contains(cfg.Extensions.Disabled, r.ID) {
			return protocol.About("id", "", protocol.CodeInvalidRequest, "%s is switched off in config.toml; take it out of extensions.disabled there.", r.ID)
		}
	}
	lock, err := disk.WaitLock(h.cfg.FS, h.switchFile()+".lock")
	if err != nil {
		return storageError("switch the extension", err)
	}
	defer func() { _ = lock.Unlock() }()
	s, err := h.readSwitches()
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	was := slices.Contains(s.Disabled, r.ID)
	if was != r.Enabled {
		return nil
	}
	if r.Enabled {
		s.Disabled = slices.DeleteFunc(s.Disabled, func(id string) bool { return id == r.ID })
	} else {
		if len(s.Disabled) >= maxSwitchedOff {
			return protocol.Errorf(protocol.CodeInvalidRequest, "%d extensions are switched off already; that is the most there can be.", len(s.Disabled))
		}
		s.Disabled = append(s.Disabled, r.ID)
		slices.Sort(s.Disabled)
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = disk.WriteFile(h.cfg.FS, h.switchFile(), append(data, '\n'))
	}
	if err != nil {
		return storageError("switch the extension", err)
	}
	return nil
}

// checkExtension loads one extension in a process of its own, without a session, and
// says what it registers.
func (h *Host) checkExtension(ctx context.Context, path string) (*protocol.ExtensionInfo, error) {
	if !filepath.IsAbs(path) {
		return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "Name the file or folder of the extension by its whole path.")
	}
	path = filepath.Clean(path)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "There is no file or folder %s; name the extension by its id, or by its path.", path)
		}
		return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "The extension cannot be read: %s.", plain(err))
	}
	found := extension.Find([]extension.Source{{Dir: filepath.Dir(path), Scope: extension.User}}, nil)
	var its []extension.Extension
	for _, e := range found.Extensions {
		if e.Path == path || strings.HasPrefix(e.Path, path+string(filepath.Separator)) {
			e.State = protocol.ExtensionFound
			if e.Problem != "" {
				e.State = protocol.ExtensionFailed
			}
			its = append(its, e)
		}
	}
	if len(its) == 0 {
		return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "%s is no extension: that is a .ts, .js or .mjs file, or a folder with an index.ts, a package.json that names some, or a scorel.extension.json.", path)
	}
	cfg, err := h.userConfig()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	record := filepath.Join(h.cfg.StoreDir, "run", "check")
	v, keys := &checking{}, &knownKeys{}
	keys.set(h.keyValues(cfg))
	set := extension.New(extension.Config{Host: v, Version: h.cfg.Version, Session: rpc.Session{Cwd: filepath.Dir(path), Mode: "print"},
		Find: func(context.Context) extension.Found { return extension.Found{Extensions: its} },
		Settings: func(e extension.Extension) json.RawMessage {
			if filepath.Dir(path) != filepath.Join(h.cfg.Dir, "extensions") { // it may be anybody's
				return nil
			}
			return h.extensionSettings("", e)
		},
		Clean: keys.clean,
		Cache: filepath.Join(h.cfg.Dir, "cache", "extensions"), Record: record, Environ: func() ([]string, error) { return h.childEnviron(cfg), nil },
		Report: func(string, []byte) {}})
	defer func() {
		set.Close()
		_ = os.Remove(record) // another check may still use it
	}()
	if err := set.Load(ctx); err != nil {
		return nil, err
	}
	list := set.List(ctx)
	info := list.Extensions[0]
	for _, more := range list.Extensions[1:] { // of one package.json
		info.Tools = append(info.Tools, more.Tools...)
		info.Commands = append(info.Commands, more.Commands...)
		info.Hooks = append(info.Hooks, more.Hooks...)
		info.Unsupported = append(info.Unsupported, more.Unsupported...)
		if more.Problem != "" && info.Problem == "" {
			info.State, info.Problem = more.State, more.ID+": "+more.Problem
		}
	}
	return &info, nil
}

// checking is what an extension that is only checked may ask for: nothing.
type checking struct{}

// Call implements [extension.Host].
func (checking) Call(_ context.Context, _ extension.Extension, method string, _ json.RawMessage) (any, error) {
	if method == rpc.CallConfig {
		return struct{}{}, nil
	}
	return nil, fmt.Errorf("%s needs a session, and the extension is only being checked", method)
}

// State implements [extension.Host].
func (checking) State() rpc.State { return rpc.State{Idle: true} }

// Notify implements [extension.Host].
func (checking) Notify(string, string) {}

// PutBlob implements [extension.Host].
func (checking) PutBlob(context.Context, []byte) (string, error) {
	return "", errors.New("nothing is stored while an extension is checked")
}

// handleExtensionAdmin registers the handlers of this file's requests.
func (h *Host) handleExtensionAdmin(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.CheckExtension) (protocol.Response, error) {
		return h.checkExtension(ctx, r.Path)
	})
	on(t, func(_ context.Context, _ *target, r *protocol.EnableExtension) (protocol.Response, error) {
		return &protocol.Done{}, h.enableExtension(r)
	})
}
