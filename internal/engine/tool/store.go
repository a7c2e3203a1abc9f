package tool

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

const (
	maxEdit     = 64 << 20 // the largest file that Write and Edit change
	maxSnapshot = 10 << 20 // the largest file that can be restored
)

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// content reads the whole file through its handle.
func (t *target) content(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := t.file.Stat()
	if err != nil {
		return nil, explain(t.path.Abs, err)
	}
	if info.Size() > maxEdit {
		return nil, fmt.Errorf("%s has %d MiB; files above %d MiB cannot be changed with this tool: use Bash",
			t.path.Abs, info.Size()>>20, maxEdit>>20)
	}
	data, err := io.ReadAll(io.NewSectionReader(t.file, 0, maxEdit+1))
	if err != nil {
		return nil, explain(t.path.Abs, err)
	}
	return data, nil
}

// snapshot is the state before the call writes; data is the content as it was
// read when the call was prepared.
func (t *target) snapshot(data []byte) Snapshot {
	s := Snapshot{Path: t.path.Abs, Existed: t.exists(), Restorable: true}
	if !s.Existed {
		return s
	}
	s.Mode = uint32(t.info.Mode().Perm())
	if s.Restorable = len(data) <= maxSnapshot; s.Restorable {
		s.Content = data
	}
	return s
}

// unchanged checks, right before the file is written, that the path still names
// the file that was opened and that its content is still data.
func (t *target) unchanged(ctx context.Context, data []byte) error {
	now, err := t.content(ctx)
	if err != nil {
		return err
	}
	if info, err := t.file.Stat(); err == nil {
		t.info = info // somebody may have changed the mode meanwhile
	}
	if !t.inPlace() || sum(now) != sum(data) {
		return fmt.Errorf("%s changed while this call was waiting; Read it again and repeat the call", t.path.Abs)
	}
	return nil
}

// inPlace says whether the path still names the file that was opened.
func (t *target) inPlace() bool {
	var st unix.Stat_t
	sys, ok := t.info.Sys().(*syscall.Stat_t)
	return ok && unix.Fstatat(int(t.dir.Fd()), t.base, &st, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		st.Ino == sys.Ino && uint64(st.Dev) == uint64(sys.Dev)
}

// makeParents makes the folders that are missing, below the handle and through
// no link.
func (t *target) makeParents(f *Files) error {
	for len(t.missing) > 0 {
		name := t.missing[0]
		if err := unix.Mkdirat(int(t.dir.Fd()), name, 0o777); err != nil && !errors.Is(err, unix.EEXIST) {
			return explain(t.path.Abs, err)
		}
		next, err := openAt(t.dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0, name)
		if err != nil {
			return explain(t.path.Abs, err)
		}
		t.dir.Close()
		t.dir, t.missing = next, t.missing[1:]
	}
	if f.holds(t.dir) {
		return outOfReach(t.path.Abs)
	}
	return nil
}

// put gives the path a new content in one step: a reader sees the old or the new
// file. An existing file keeps its mode; one that has several names or another
// owner, or stands in a folder that cannot be written, is overwritten instead.
func (t *target) put(f *Files, data, old []byte) error {
	if err := t.makeParents(f); err != nil {
		return err
	}
	if t.exists() {
		sys, ok := t.info.Sys().(*syscall.Stat_t)
		if !ok || sys.Nlink > 1 || int(sys.Uid) != os.Geteuid() {
			return t.overwrite(data, old)
		}
	}
	temp := ".tmp-" + rand.Text()
	out, err := openAt(t.dir, temp, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o666, temp)
	if errors.Is(err, unix.EACCES) && t.exists() {
		return t.overwrite(data, old)
	}
	if err != nil {
		return explain(t.path.Abs, err)
	}
	_, err = out.Write(data)
	if err == nil && t.exists() {
		err = out.Chmod(t.info.Mode() & (os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky))
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
		return explain(t.path.Abs, err)
	}
	return nil
}

// mode gives the permission bits of the file that the path names now, 0 when they cannot
// be had.
func (t *target) mode() uint32 {
	var st unix.Stat_t
	if unix.Fstatat(int(t.dir.Fd()), t.base, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0
	}
	return uint32(st.Mode) & 0o777
}

func (t *target) rename(temp string) error {
	fd := int(t.dir.Fd())
	if t.exists() {
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

// overwrite writes through the handle that was read, so that the file keeps its
// identity. When that fails half way the old content is put back.
func (t *target) overwrite(data, old []byte) error {
	err := t.rewrite(data)
	if err == nil {
		return nil
	}
	if back := t.rewrite(old); back != nil {
		return fmt.Errorf("%s: %w; its old content could not be put back either (%v)", t.path.Abs, err, back)
	}
	return explain(t.path.Abs, err)
}

func (t *target) rewrite(data []byte) error {
	if _, err := t.file.WriteAt(data, 0); err != nil {
		return err
	}
	if err := t.file.Truncate(int64(len(data))); err != nil {
		return err
	}
	return t.file.Sync()
}
