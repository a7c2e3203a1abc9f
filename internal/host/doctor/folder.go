package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"scorel/internal/platform/disk"
)

// maxNames is how many names of ~/.scorel the check of modes looks at.
const maxNames = 5000

// Bounds of free space: below the first the host starts no turn.
const (
	leastSpace = 256 << 20
	littleRoom = 1 << 30
)

// Home checks that ~/.scorel and what is in it belong to the user and are closed
// to others.
func Home(dir string, uid int) Check {
	return Check{"home", func(ctx context.Context) Finding {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return OK("%s does not exist yet; the first session makes it", dir)
		}
		if err != nil {
			return Fail(fmt.Sprintf("%s cannot be read: %v", dir, cause(err)), "Make it readable for you, or set HOME to your home folder.")
		}
		if !info.IsDir() {
			return Fail(dir+" is not a folder", "Move it away.")
		}
		if f, bad := judge(dir, info, uid, false); bad {
			return f
		}
		seen, open, first := 0, 0, ""
		err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if seen++; seen > maxNames || ctx.Err() != nil {
				return fs.SkipAll
			}
			if err != nil || name == dir {
				return err
			}
			info, err := e.Info()
			if err != nil || e.Type()&(fs.ModeSymlink|fs.ModeSocket) != 0 {
				return nil // gone meanwhile, or judged by where it is
			}
			f, bad := judge(name, info, uid, theirs(dir, name))
			if bad && f.State == fail {
				return &found{f}
			}
			if bad {
				if open++; first == "" {
					first = name
				}
			}
			return nil
		})
		var bad *found
		switch {
		case errors.As(err, &bad):
			return bad.Finding
		case err != nil:
			return Fail(fmt.Sprintf("%s cannot be read: %v", dir, cause(err)), "Make all of it yours: sudo chown -R \"$(id -u)\" "+dir)
		case open > 0:
			return Warn(fmt.Sprintf("%d files can be read by others, %s first", open, first), "Close them: chmod -R go= "+dir)
		}
		return OK("%s is yours and closed to others", dir)
	}}
}

// found carries a finding out of a walk.
type found struct{ Finding }

func (f *found) Error() string { return f.Text }

// theirs reports whether a file is one that a person writes: others may read it.
func theirs(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(rel, "/")
	switch first {
	case "config.toml", "AGENTS.md", "skills", "extensions", "commands", "agents", "themes":
		return true
	}
	return false
}

// judge says what is wrong with the owner or mode of a file.
func judge(name string, info fs.FileInfo, uid int, readable bool) (Finding, bool) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != uid {
		return Fail(fmt.Sprintf("%s belongs to another user (uid %d)", name, st.Uid), "Make it yours: sudo chown -R \"$(id -u)\" "+name), true
	}
	switch mode := info.Mode().Perm(); {
	case mode&0o022 != 0:
		return Fail(fmt.Sprintf("%s can be written by others (mode %04o)", name, mode), "Close it: chmod go-w "+name), true
	case mode&0o077 != 0 && !readable:
		return Warn(fmt.Sprintf("%s can be read by others (mode %04o)", name, mode), "Close it: chmod go= "+name), true
	}
	return Finding{}, false
}

// Space checks that ~/.scorel can be written, by a probe file that it removes,
// and that the disk has room.
func Space(fsys disk.FS, dir string) Check {
	return Check{"disk", func(context.Context) Finding {
		at := existing(dir)
		free, err := fsys.Free(at)
		if err != nil {
			return Fail(fmt.Sprintf("the free space at %s is not known: %v", at, cause(err)), "Look whether the disk is there: df "+at)
		}
		mib := free >> 20
		if free < leastSpace {
			return Fail(fmt.Sprintf("%d MiB are free; below %d MiB no turn is started", mib, leastSpace>>20), "Free some space; scorel sessions prune removes payloads that no session names.")
		}
		if at == dir {
			if err := probe(fsys, dir); err != nil {
				return Fail(fmt.Sprintf("%s cannot be written: %v", dir, cause(err)), "Make it writable, or set HOME to a folder that is.")
			}
		}
		if free < littleRoom {
			return Warn(fmt.Sprintf("only %d MiB are free", mib), "Free some space before long sessions.")
		}
		return OK("%d MiB are free", mib)
	}}
}

func probe(fsys disk.FS, dir string) error {
	f, name, err := disk.Temp(fsys, filepath.Join(dir, "doctor"))
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("probe"), 0)
	return errors.Join(err, f.Sync(), f.Close(), fsys.Remove(name))
}

// Folders checks that Scorel can make files in folders of its own, those of them that are
// there. It makes none: the time of a folder says something to [Clock].
func Folders(dirs ...string) Check {
	return Check{"folders", func(context.Context) Finding {
		var bad []string
		for _, dir := range dirs {
			info, err := os.Stat(dir)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				if _, err = os.Lstat(dir); err != nil {
					continue // it is made when it is needed
				}
				err = errors.New("it is a link that leads nowhere")
			case err == nil && !info.IsDir():
				err = errors.New("it is not a folder")
			case err == nil:
				err = unix.Access(dir, unix.R_OK|unix.W_OK|unix.X_OK)
			}
			if err != nil {
				bad = append(bad, fmt.Sprintf("%s: %v", dir, cause(err)))
			}
		}
		if len(bad) > 0 {
			return Fail("cannot be used: "+strings.Join(bad, "; "), "Make each a folder that you can write (chmod u+rwx), or move it away; it is made again when it is needed.")
		}
		return OK("Scorel's own folders can be written")
	}}
}

// existing returns dir, or the nearest folder above it that is there.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// Mount checks the file system that ~/.scorel lies on; of is [disk.MountOf].
func Mount(dir string, of func(string) (disk.Mount, error)) Check {
	return Check{"filesystem", func(context.Context) Finding {
		m, err := of(existing(dir))
		switch {
		case err != nil:
			return Fail(fmt.Sprintf("the file system of %s is not known: %v", dir, cause(err)), "Look whether the disk is there: df "+dir)
		case m.ReadOnly:
			return Fail(dir+" is on a file system that is mounted read-only ("+m.Type+")", "Mount it writable, or set HOME to a folder that is.")
		case m.Volatile:
			return Warn(dir+" is on "+m.Type+", which is gone after the next start of this machine", "Set HOME to a folder on a disk, or export what you want to keep.")
		case m.Remote:
			return Warn(dir+" is on a network file system ("+m.Type+")", "It works, with locks that another machine may see up to 60 s late; a local disk is faster and safer.")
		case m.NoExec:
			return Warn(dir+" is on a file system that starts no programs ("+m.Type+", noexec)", "Programs of skills and extensions cannot run from there; mount it without noexec if you need them.")
		}
		return OK("%s is on %s", dir, m.Type)
	}}
}

func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
