package mcpb

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a bundle; see docs/limits.md.
const (
	// MaxSize is how large the file of a bundle may be, in bytes.
	MaxSize = 256 << 20
	// maxFiles and maxBytes are how many names it may have, and how much all of them may
	// hold when they are unpacked.
	maxFiles = 10_000
	maxBytes = 512 << 20
	// maxManifest is how large its manifest may be, in bytes.
	maxManifest = 1 << 20
	// maxPath is how long a name in it may be, in bytes.
	maxPath = 1 << 10
	// maxOptions is how many values it may ask for.
	maxOptions = 100
)

// manifestName is the file that describes a bundle.
const manifestName = "manifest.json"

// Bundle is an open bundle.
type Bundle struct {
	Name        string // as it calls itself
	Version     string
	Description string

	zip      *zip.ReadCloser
	manifest manifest
}

// manifest is what counts of manifest.json.
type manifest struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Server      struct {
		Config struct {
			command
			Platforms map[string]command `json:"platform_overrides"`
		} `json:"mcp_config"`
	} `json:"server"`
	UserConfig    map[string]option `json:"user_config"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

type command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// Open reads the manifest of a bundle, and checks all that the bundle says it holds. The
// error is a sentence without a subject.
func Open(file string) (*Bundle, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > MaxSize {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxSize>>20)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, fmt.Errorf("it is not a bundle: %w", err)
	}
	b := &Bundle{zip: z}
	if err := b.read(); err != nil {
		return nil, errors.Join(err, z.Close())
	}
	return b, nil
}

// Close closes the file.
func (b *Bundle) Close() error { return b.zip.Close() }

func (b *Bundle) read() error {
	if len(b.zip.File) > maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	var total uint64
	for _, f := range b.zip.File {
		if err := check(f); err != nil {
			return err
		}
		if total += f.UncompressedSize64; f.UncompressedSize64 > maxBytes || total > maxBytes {
			return fmt.Errorf("it unpacks to more than %d MiB", maxBytes>>20)
		}
	}
	i := slices.IndexFunc(b.zip.File, func(f *zip.File) bool { return f.Name == manifestName })
	if i < 0 {
		return errors.New("it is not a bundle: it has no manifest.json")
	}
	in, err := b.zip.File[i].Open()
	if err != nil {
		return fmt.Errorf("its manifest.json cannot be read: %w", err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	switch {
	case err != nil:
		return fmt.Errorf("its manifest.json cannot be read: %w", err)
	case len(data) > maxManifest:
		return fmt.Errorf("its manifest.json is larger than %d MiB", maxManifest>>20)
	}
	if err := json.Unmarshal(data, &b.manifest); err != nil {
		return fmt.Errorf("its manifest.json is not valid: %w", err)
	}
	m := b.manifest
	b.Name, b.Version, b.Description = m.DisplayName, m.Version, m.Description
	if b.Name == "" {
		b.Name = m.Name
	}
	if p := m.Compatibility.Platforms; p != nil && !slices.Contains(p, platform()) {
		return fmt.Errorf("it is for %s, not for %s", strings.Join(p, ", "), platform())
	}
	if len(m.UserConfig) > maxOptions {
		return fmt.Errorf("it asks for more than %d values", maxOptions)
	}
	if b.command().Command == "" {
		return errors.New("its manifest.json names no command (server.mcp_config.command)")
	}
	return nil
}

// platform is what manifests call this system.
func platform() string {
	if runtime.GOOS == "windows" {
		return "win32"
	}
	return runtime.GOOS
}

// check refuses what is not a file or folder with a name of the bundle.
func check(f *zip.File) error {
	name := strings.TrimSuffix(f.Name, "/")
	switch {
	case len(f.Name) > maxPath || !utf8.ValidString(f.Name) || strings.ContainsAny(f.Name, "\\\x00:"):
		return fmt.Errorf("it has a file with the name %.100q, which cannot be unpacked", f.Name)
	case name == "" || !filepath.IsLocal(name) || filepath.ToSlash(filepath.Clean(name)) != name:
		return fmt.Errorf("it has a file with the name %.100q, which leads out of it", f.Name)
	case !f.Mode().IsRegular() && !f.Mode().IsDir():
		return fmt.Errorf("it has a link or another special file (%.100q)", f.Name)
	case f.Flags&1 != 0:
		return errors.New("it is encrypted")
	}
	return nil
}

// Unpack writes all files of the bundle below dir, which has to be new and empty. A file that
// holds more than it says ends it; whoever calls removes what is there then.
func (b *Bundle) Unpack(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return cause(err)
	}
	defer root.Close()
	left := int64(maxBytes)
	for _, f := range b.zip.File {
		name := strings.TrimSuffix(f.Name, "/")
		parent := filepath.Dir(name)
		if f.Mode().IsDir() {
			parent = name
		}
		if err := root.MkdirAll(parent, 0o700); err != nil {
			return fmt.Errorf("unpack %.100q: %w", f.Name, cause(err))
		}
		if f.Mode().IsDir() {
			continue
		}
		n, err := one(root, f, name, left)
		if err != nil {
			return fmt.Errorf("unpack %.100q: %w", f.Name, err)
		}
		left -= n
	}
	return nil
}

func one(root *os.Root, f *zip.File, name string, left int64) (n int64, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	mode := os.FileMode(0o600)
	if f.Mode()&0o100 != 0 {
		mode = 0o700
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, cause(err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err = io.Copy(out, io.LimitReader(in, left+1))
	if err == nil && n > left {
		err = fmt.Errorf("the bundle unpacks to more than %d MiB", maxBytes>>20)
	}
	return n, err
}

// cause is the innermost part of a file error.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Files returns how many names the bundle has.
func (b *Bundle) Files() int { return len(b.zip.File) }
