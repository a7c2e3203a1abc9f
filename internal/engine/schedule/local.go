package schedule

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// localFile is where a device keeps its time zone.
	localFile = "/etc/localtime"
	// unnamedZone is the name of a zone whose file does not say it.
	unnamedZone = "Local"
	// maxZoneFile bounds a file of a zone, in bytes. The largest has about 4 KiB.
	maxZoneFile = 64 << 10
)

// local is the device's zone as it was last seen.
var local deviceZone

// Local returns the time zone of the device as it is set now: by $TZ of the process, else by
// /etc/localtime. [time.Local] is read once and stays. It returns the same pointer until the
// zone changes, and UTC when the zone cannot be read, as package time does. Named zones
// have their name ("Europe/Berlin") where $TZ or the file tells it, else it is "Local".
func Local() *time.Location {
	tz, set := os.LookupEnv("TZ")
	return local.now(tz, set, localFile)
}

// deviceZone is a zone with what it was made of. It holds mu while it reads a small file.
type deviceZone struct {
	mu     sync.Mutex
	source zoneSource
	zone   *time.Location
}

// zoneSource is where a zone comes from: the name of one, or a file.
type zoneSource struct {
	name string
	path string
	link string // where the path leads, as a symbolic link says
	info os.FileInfo
}

// same reports whether the source is the one that it was.
func (s zoneSource) same(before zoneSource) bool {
	if s.name != before.name || s.path != before.path || s.link != before.link || (s.info == nil) != (before.info == nil) {
		return false
	}
	return s.info == nil || os.SameFile(s.info, before.info) && s.info.ModTime().Equal(before.info.ModTime()) && s.info.Size() == before.info.Size()
}

// now returns the zone for a value of $TZ and the device's file.
func (d *deviceZone) now(tz string, set bool, file string) *time.Location {
	source := zoneSource{path: file}
	if set {
		tz = strings.TrimPrefix(tz, ":")
		if source.path = ""; filepath.IsAbs(tz) {
			source.path = tz
		} else {
			source.name = tz
		}
	}
	if source.path != "" {
		source.link, _ = os.Readlink(source.path)
		source.info, _ = os.Stat(source.path)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.zone == nil || !source.same(d.source) {
		d.source, d.zone = source, source.load()
	}
	return d.zone
}

// load reads the zone; UTC when that fails.
func (s zoneSource) load() *time.Location {
	if s.path == "" {
		zone, err := time.LoadLocation(s.name)
		if err != nil || s.name == unnamedZone {
			return time.UTC
		}
		return zone
	}
	if s.info == nil || !s.info.Mode().IsRegular() {
		return time.UTC
	}
	f, err := os.Open(s.path)
	if err != nil {
		return time.UTC
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxZoneFile))
	if err != nil {
		return time.UTC
	}
	name := unnamedZone
	for _, path := range []string{s.link, s.path} {
		if _, after, ok := strings.Cut(path, "/zoneinfo/"); ok && after != "" {
			name = after
			break
		}
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return time.UTC
	}
	return zone
}
