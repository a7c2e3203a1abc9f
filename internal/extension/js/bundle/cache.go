package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Bounds of the cache on disk. The oldest go.
const (
	MaxCached      = 200       // bundles
	MaxCachedBytes = 256 << 20 // of all
)

// format changes whenever bundles are made in another way.
const format = "2"

// head is the first line of a cached bundle; the rest of the file is the script.
type head struct {
	Inputs map[string]string `json:"inputs"`
	Sum    string            `json:"sum"` // of the script
}

// file is where the bundle of an entry lies.
func (o Options) file() string {
	h := sha256.New()
	for _, s := range []string{format, o.Version, o.Root, o.Entry} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return filepath.Join(o.Cache, hex.EncodeToString(h.Sum(nil))+".bundle")
}

// cached returns the bundle of the cache if it is whole, and every file that went into it
// is as it was and may be read.
func (o Options) cached() *Bundle {
	if o.Cache == "" {
		return nil
	}
	path := o.file()
	info, err := os.Stat(path)
	if err != nil || info.Size() > MaxOutput+MaxInputs*1024 {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	first, code, ok := bytes.Cut(data, []byte("\n"))
	var h head
	if !ok || json.Unmarshal(first, &h) != nil || len(h.Inputs) == 0 {
		return nil
	}
	if sum := sha256.Sum256(code); hex.EncodeToString(sum[:]) != h.Sum {
		return nil
	}
	r := &reader{o: o, inputs: map[string]string{}}
	for name, want := range h.Inputs {
		if _, err := r.read(o.path(name)); err != nil || r.inputs[name] != want {
			return nil
		}
	}
	// A package.json that was not there decides again.
	known := len(r.inputs)
	if err := r.packages(); err != nil || len(r.inputs) != known {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // the oldest go first
	return &Bundle{Code: code, Name: o.script(), Inputs: h.Inputs, Cached: true}
}

// store keeps a bundle; a cache that cannot be written is no error.
func (o Options) store(b *Bundle) {
	if o.Cache == "" || os.MkdirAll(o.Cache, 0o700) != nil {
		return
	}
	sum := sha256.Sum256(b.Code)
	line, err := json.Marshal(head{Inputs: b.Inputs, Sum: hex.EncodeToString(sum[:])})
	if err != nil {
		return
	}
	f, err := os.CreateTemp(o.Cache, ".new-*") // 0600
	if err != nil {
		return
	}
	_, err = f.Write(append(append(line, '\n'), b.Code...))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), o.file())
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	prune(o.Cache)
}

// prune removes the bundles that were used longest ago until the cache is within its
// bounds, and what writers that died have left.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type bundle struct {
		path string
		size int64
		used time.Time
	}
	var all []bundle
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasSuffix(e.Name(), ".bundle"):
			all = append(all, bundle{path, info.Size(), info.ModTime()})
			total += info.Size()
		case strings.HasPrefix(e.Name(), ".new-") && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(path)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].used.Before(all[j].used) })
	for i := 0; i < len(all) && (len(all)-i > MaxCached || total > MaxCachedBytes); i++ {
		_ = os.Remove(all[i].path)
		total -= all[i].size
	}
}
