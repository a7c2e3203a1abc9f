package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/platform/repository"
)

// maxMountinfo bounds what is read of the list of mounts, in bytes. A machine
// with thousands of containers has a few MiB.
const maxMountinfo = 16 << 20

// mount is a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	device string // major:minor of the file system
	root   string // folder of the file system that is shown
	point  string // where
}

// readMounts returns the mounts that this process sees.
func readMounts() ([]mount, error) {
	data, err := readMountinfo("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read the mounts: %w", err)
	}
	return parseMounts(data), nil
}

func readMountinfo(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMountinfo+1))
	if err == nil && len(data) > maxMountinfo {
		err = errors.New("there are too many")
	}
	return data, err
}

func parseMounts(data []byte) []mount {
	var list []mount
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 5 {
			continue
		}
		list = append(list, mount{device: f[2], root: unescape(f[3]), point: unescape(f[4])})
	}
	return list
}

// unescape undoes what the kernel does to space, tab, newline and backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && isOctal(s[i+1:i+4]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isOctal(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '7' {
			return false
		}
	}
	return true
}

// aliases returns the other places where path, without symlinks, can be seen: a
// bind mount shows a folder a second time.
func aliases(path string, mounts []mount) []string {
	var under mount
	for _, m := range mounts { // a later mount on the same point is on top
		if within(path, m.point) && len(m.point) >= len(under.point) {
			under = m
		}
	}
	if under.point == "" {
		return nil
	}
	inside := filepath.Join(under.root, strings.TrimPrefix(path, strings.TrimSuffix(under.point, "/")))
	var out []string
	for _, m := range mounts {
		if m.device != under.device {
			continue
		}
		at := ""
		switch {
		case within(inside, m.root): // shows it, or something above it
			at = filepath.Join(m.point, strings.TrimPrefix(inside, strings.TrimSuffix(m.root, "/")))
			if !repository.SameFile(at, path) {
				at = "" // another mount covers it
			}
		case within(m.root, inside): // shows a part of it
			at = m.point
		}
		if at != "" && at != path {
			out = append(out, at)
		}
	}
	return out
}
