package mcpservers

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/platform/disk"
)

const (
	// maxOlder is how many servers of older versions are remembered, also by later hosts.
	maxOlder = 500
	// olderTime is how long one is: servers learn newer versions.
	olderTime = 30 * 24 * time.Hour
	// maxOlderFile bounds the file, in bytes.
	maxOlderFile = 1 << 20
)

// older remembers which commands did not answer the first question of the newest version,
// so that they are not asked it for 3 s at each start. It may be used concurrently. What
// cannot be read or written is not remembered, which costs time and nothing else.
type older struct {
	fs   disk.FS
	file string
	now  func() time.Time

	mu    sync.Mutex
	read  bool
	since map[string]time.Time // by the entry's name and hash
}

// has reports whether the server of an entry is one.
func (o *older) has(entry string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.read {
		o.read = true
		if data, err := disk.ReadFile(o.fs, o.file, maxOlderFile); err == nil {
			o.since = o.parse(data)
		}
	}
	since, ok := o.since[entry]
	return ok && o.now().Sub(since) < olderTime
}

// note remembers whether the server of an entry is one.
func (o *older) note(entry string, is bool) {
	if o.has(entry) == is {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	change := func(m map[string]time.Time) map[string]time.Time {
		if m == nil {
			m = map[string]time.Time{}
		}
		if delete(m, entry); is {
			m[entry] = o.now()
		}
		for len(m) > maxOlder { // the oldest goes
			first := ""
			for k, at := range m {
				if first == "" || at.Before(m[first]) {
					first = k
				}
			}
			delete(m, first)
		}
		return m
	}
	o.since = change(o.since)
	if o.fs.MkdirAll(filepath.Dir(o.file)) != nil {
		return
	}
	_ = disk.Update(o.fs, o.file, maxOlderFile, func(old []byte) ([]byte, error) { // see older
		return json.Marshal(change(o.parse(old)))
	})
}

// parse reads the file; what is not as it was written counts for nothing.
func (o *older) parse(data []byte) map[string]time.Time {
	var m map[string]time.Time
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	maps.DeleteFunc(m, func(_ string, since time.Time) bool {
		return since.After(o.now()) || o.now().Sub(since) >= olderTime
	})
	return m
}
