package files

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Snapshot is a file before it is written.
type Snapshot struct {
	Path       string // absolute
	Existed    bool
	Restorable bool // false above 10 MiB, and for what is not a regular file
	Mode       uint32
	Content    []byte
}

const (
	MaxEdit     = 64 << 20 // the largest file that Write and Edit change
	MaxSnapshot = 10 << 20 // the largest file that can be restored
)

func Sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Content reads the whole file through its handle.
func (t *Target) Content(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := t.File.Stat()
	if err != nil {
		return nil, Explain(t.Path.Abs, err)
	}
	if info.Size() > MaxEdit {
		return nil, fmt.Errorf("%s has %d MiB; files above %d MiB cannot be changed with this tool: use Bash",
			t.Path.Abs, info.Size()>>20, MaxEdit>>20)
	}
	data, err := io.ReadAll(io.NewSectionReader(t.File, 0, MaxEdit+1))
	if err != nil {
		return nil, Explain(t.Path.Abs, err)
	}
	return data, nil
}

// Snapshot is the state before the call writes; data is the content as it was
// read when the call was prepared.
func (t *Target) Snapshot(data []byte) Snapshot {
	s := Snapshot{Path: t.Path.Abs, Existed: t.Exists(), Restorable: true}
	if !s.Existed {
		return s
	}
	s.Mode = uint32(t.Info.Mode().Perm())
	if s.Restorable = len(data) <= MaxSnapshot; s.Restorable {
		s.Content = data
	}
	return s
}

// Unchanged checks, right before the file is written, that the path still names
// the file that was opened and that its content is still data.
func (t *Target) Unchanged(ctx context.Context, data []byte) error {
	now, err := t.Content(ctx)
	if err != nil {
		return err
	}
	if info, err := t.File.Stat(); err == nil {
		t.Info = info // somebody may have changed the mode meanwhile
	}
	if !t.inPlace() || Sum(now) != Sum(data) {
		return fmt.Errorf("%s changed while this call was waiting; Read it again and repeat the call", t.Path.Abs)
	}
	return nil
}

// inPlace reports whether the path still names the file that was opened.
func (t *Target) inPlace() bool {
	var st unix.Stat_t
	sys, ok := t.Info.Sys().(*syscall.Stat_t)
	return ok && unix.Fstatat(int(t.dir.Fd()), t.base, &st, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		st.Ino == sys.Ino && uint64(st.Dev) == uint64(sys.Dev)
}

// makeParents makes the folders that are missing, below the handle and through
// no link.
func (t *Target) makeParents(f *Files) error {
	for len(t.missing) > 0 {
		name := t.missing[0]
		if err := unix.Mkdirat(int(t.dir.Fd()), name, 0o777); err != nil && !errors.Is(err, unix.EEXIST) {
			return Explain(t.Path.Abs, err)
		}
		next, err := openAt(t.dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0, name)
		if err != nil {
			return Explain(t.Path.Abs, err)
		}
		t.dir.Close()
		t.dir, t.missing = next, t.missing[1:]
	}
	if f.holds(t.dir) {
		return outOfReach(t.Path.Abs)
	}
	return nil
}

// Put returns the path a new content in one step: a reader sees the old or the new
// file. An existing file keeps its mode; one that has several names or another
// owner, or stands in a folder that cannot be written, is overwritten instead.
func (t *Target) Put(f *Files, data, old []byte) error {
	return t.put(f, data, old, t.modeBits())
}

// modeBits returns the mode of the file that was opened, 0 where there is none.
func (t *Target) modeBits() os.FileMode {
	if !t.Exists() {
		return 0
	}
	return t.Info.Mode() & (os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky)
}

// put is Put with a mode, except where a file is overwritten; 0 is that of any new file.
func (t *Target) put(f *Files, data, old []byte, mode os.FileMode) error {
	if err := t.makeParents(f); err != nil {
		return err
	}
	if t.Exists() {
		sys, ok := t.Info.Sys().(*syscall.Stat_t)
		if !ok || sys.Nlink > 1 || int(sys.Uid) != os.Geteuid() {
			return t.Overwrite(data, old)
		}
	}
	temp := ".tmp-" + rand.Text()
	out, err := openAt(t.dir, temp, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o666, temp)
	if errors.Is(err, unix.EACCES) && t.Exists() {
		return t.Overwrite(data, old)
	}
	if err != nil {
		return Explain(t.Path.Abs, err)
	}
	_, err = out.Write(data)
	if err == nil && mode != 0 {
		err = out.Chmod(mode)
	}
	if err == nil {
		err = out.Sync()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = t.rename(temp)
	}
	if err != nil {
		_ = unix.Unlinkat(int(t.dir.Fd()), temp, 0)
		return Explain(t.Path.Abs, err)
	}
	return nil
}

// Mode returns the permission bits of the file that the path names now, 0 when they cannot
// be had.
func (t *Target) Mode() uint32 {
	var st unix.Stat_t
	if unix.Fstatat(int(t.dir.Fd()), t.base, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0
	}
	return uint32(st.Mode) & 0o777
}

func (t *Target) rename(temp string) error {
	fd := int(t.dir.Fd())
	if t.Exists() {
		if !t.inPlace() {
			return errors.New("it changed while this call was waiting; Read it again and repeat the call")
		}
		return unix.Renameat(fd, temp, fd, t.base)
	}
	err := renameNew(t.dir, temp, t.base)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		// The file system cannot do it in one step: a hard link does the same.
		if err = unix.Linkat(fd, temp, fd, t.base, 0); err == nil {
			return unix.Unlinkat(fd, temp, 0)
		}
	}
	if errors.Is(err, unix.EEXIST) {
		return errors.New("something was put there while this call was waiting; Read it first")
	}
	return err
}

// Overwrite writes through the handle that was read, so that the file keeps its
// identity. When that fails half way the old content is put back.
func (t *Target) Overwrite(data, old []byte) error {
	err := t.rewrite(data)
	if err == nil {
		return nil
	}
	if back := t.rewrite(old); back != nil {
		return fmt.Errorf("%s: %w; its old content could not be put back either (%v)", t.Path.Abs, err, back)
	}
	return Explain(t.Path.Abs, err)
}

func (t *Target) rewrite(data []byte) error {
	if _, err := t.File.WriteAt(data, 0); err != nil {
		return err
	}
	if err := t.File.Truncate(int64(len(data))); err != nil {
		return err
	}
	return t.File.Sync()
}
