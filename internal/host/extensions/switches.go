package extensions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
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

func switchFile(st *settings.Settings) string { return filepath.Join(st.Dir, "extensions.json") }

func readSwitches(st *settings.Settings) (switches, error) {
	var s switches
	data, err := disk.ReadFile(st.FS, switchFile(st), maxSwitchFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("the list of extensions that are switched off cannot be read: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err = dec.Decode(&s)
	if err == nil && disk.Blank(data) {
		err = errors.New("it says nothing")
	}
	if err != nil {
		return switches{}, fmt.Errorf("%s is damaged; repair it or remove it: %w", switchFile(st), err)
	}
	return s, nil
}

// switchedOff returns the ids of the extensions that are switched off, by people and by
// the configuration.
func switchedOff(st *settings.Settings, root string) ([]string, error) {
	s, err := readSwitches(st)
	cfg, cerr := st.Load(root)
	if err == nil {
		err = cerr
	}
	return slices.Concat(s.Disabled, cfg.Extensions.Disabled), err
}

// enableExtension switches an extension on or off for all sessions of the user. It
// counts in those that are open when they are reloaded.
func (xs *Extensions) enableExtension(r *protocol.EnableExtension) error {
	if r.ID == "" || len(r.ID) > 100 {
		return protocol.About("id", "", protocol.CodeInvalidRequest, "Say which extension by its id, which has at most 100 bytes.")
	}
	if r.Enabled {
		if cfg, err := xs.settings.User(); err == nil && slices.Contains(cfg.Extensions.Disabled, r.ID) {
			return protocol.About("id", "", protocol.CodeInvalidRequest, "%s is switched off in config.toml; take it out of extensions.disabled there.", r.ID)
		}
	}
	lock, err := disk.WaitLock(xs.settings.FS, switchFile(xs.settings)+".lock")
	if err != nil {
		return failure.Storage("switch the extension", err)
	}
	defer func() { _ = lock.Unlock() }()
	s, err := readSwitches(xs.settings)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
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
		err = disk.WriteFile(xs.settings.FS, switchFile(xs.settings), append(data, '\n'))
	}
	if err != nil {
		return failure.Storage("switch the extension", err)
	}
	return nil
}
