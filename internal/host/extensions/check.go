package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// checkExtension loads one extension in a process of its own, without a session, and
// says what it registers.
func (xs *Extensions) checkExtension(ctx context.Context, path string) (*protocol.ExtensionInfo, error) {
	if !filepath.IsAbs(path) {
		return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "Name the file or folder of the extension by its whole path.")
	}
	path = filepath.Clean(path)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "There is no file or folder %s; name the extension by its id, or by its path.", path)
		}
		return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "The extension cannot be read: %s.", failure.Plain(err))
	}
	scope, dir := extension.User, filepath.Dir(path)
	if strings.HasSuffix(dir, "/.scorel/extensions") && dir != filepath.Join(xs.settings.Dir, "extensions") {
		scope = extension.Project // which may do less
	}
	found := extension.Find([]extension.Source{{Dir: dir, Scope: scope}}, nil)
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
		return nil, protocol.About("path", "", protocol.CodeInvalidRequest, "%s is not an extension: that is a .ts, .js or .mjs file, or a folder with an index.ts, a package.json that names some, or a scorel.extension.json.", path)
	}
	cfg, err := xs.settings.User()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	record := filepath.Join(xs.settings.StoreDir, "run", "check")
	v, keys := &checking{}, &settings.KnownKeys{}
	keys.Set(xs.settings.KeyValues(cfg))
	set := extension.New(extension.Config{Host: v, Version: xs.settings.Version, Session: rpc.Session{Cwd: filepath.Dir(path), Mode: "print"}, Check: true,
		Find: func(context.Context) extension.Found { return extension.Found{Extensions: its} },
		Settings: func() func(extension.Extension) json.RawMessage {
			if filepath.Dir(path) != filepath.Join(xs.settings.Dir, "extensions") { // it may be anybody's
				return nil
			}
			return xs.settingsIn("")
		},
		Clean: keys.Clean,
		Cache: filepath.Join(xs.settings.Dir, "cache", "extensions"), Record: record, Environ: func() ([]string, error) { return xs.settings.ChildEnviron(cfg), nil },
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
		info.Models = append(info.Models, more.Models...)
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

// HasBlob implements [extension.Host].
func (checking) HasBlob(string) bool { return false }
