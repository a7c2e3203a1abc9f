package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"scorel/internal/platform/sandbox/sandboxtest"
)

func TestATemporaryFolderIsPrivateAndGoesWithItsSession(t *testing.T) {
	base := t.TempDir()
	temp, err := NewTemp(base, "ses_a")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{temp.Dir, filepath.Dir(temp.Dir)} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", dir, info.Mode(), err)
		}
	}
	deep := filepath.Join(temp.Dir, "a", "b")
	for _, step := range []error{os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "f"), nil, 0o400), os.Chmod(deep, 0), os.Chmod(filepath.Dir(deep), 0)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if err := temp.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(temp.Dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if err := temp.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestATemporaryFolderThatCannotBeReadIsRemovedByItsOwner(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) { // permissions do not hold root back
		temp, err := NewTemp(dir, "ses_a")
		if err != nil {
			t.Fatal(err)
		}
		deep := filepath.Join(temp.Dir, "a", "b")
		for _, step := range []error{os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "f"), nil, 0o400), os.Chmod(deep, 0o500), os.Chmod(filepath.Dir(deep), 0)} {
			if step != nil {
				t.Fatal(step)
			}
		}
		if err := temp.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(temp.Dir); !os.IsNotExist(err) {
			t.Errorf("it is still there: %v", err)
		}
	})
}

func TestLeftTemporaryFoldersGoAndHeldOnesStay(t *testing.T) {
	base := t.TempDir()
	held, err := NewTemp(base, "ses_held")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	left := filepath.Join(filepath.Dir(held.Dir), "ses_left")
	if err := os.MkdirAll(filepath.Join(left, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := NewTemp(base, "ses_held") // a host that was not closed well holds it
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Dir == held.Dir {
		t.Error("two hold one folder")
	}
	if _, err := os.Stat(held.Dir); err != nil {
		t.Errorf("a held folder was removed: %v", err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("a left folder stays: %v", err)
	}
}

func TestAPlantedTemporaryFolderIsNotUsed(t *testing.T) {
	name := "scorel-" + strconv.Itoa(os.Geteuid())
	for what, plant := range map[string]func(path, elsewhere string) error{
		"a symlink":             func(path, elsewhere string) error { return os.Symlink(elsewhere, path) },
		"open to others":        func(path, _ string) error { _ = os.Mkdir(path, 0o700); return os.Chmod(path, 0o777) },
		"a file":                func(path, _ string) error { return os.WriteFile(path, nil, 0o600) },
		"another user's folder": func(path, _ string) error { _ = os.Mkdir(path, 0o700); return os.Chown(path, 12345, 12345) },
	} {
		t.Run(what, func(t *testing.T) {
			base, elsewhere := t.TempDir(), t.TempDir()
			if err := plant(filepath.Join(base, name), elsewhere); err != nil {
				if errors.Is(err, fs.ErrPermission) {
					t.Skip("only root can plant it; CI runs this")
				}
				t.Fatal(err)
			}
			temp, err := NewTemp(base, "ses_a")
			if err != nil {
				t.Fatal(err)
			}
			defer temp.Close()
			if temp.Dir != filepath.Join(base, name+"-1", "ses_a") {
				t.Errorf("it is %s", temp.Dir)
			}
			if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
				t.Errorf("something was made elsewhere: %v", left)
			}
		})
	}
}

func TestATemporaryFolderIsRefusedWhereOthersCouldMoveIt(t *testing.T) {
	base := t.TempDir()
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := NewTemp(base, "ses_a"); err == nil || !strings.Contains(err.Error(), "chmod +t") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"", "../x", "a/b"} {
		if _, err := NewTemp(t.TempDir(), name); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestTheBaseOfTemporaryFoldersIsWhatCommandsMaySee(t *testing.T) {
	for dir, want := range map[string]string{"": "/tmp", "relative": "/tmp", "/run/user/1000": "/tmp", "/home/u/.scorel/tmp": "/tmp", "/var/tmp/": "/var/tmp"} {
		if got := TempBase(dir, []string{"/home/u/.scorel"}); got != want {
			t.Errorf("%q gives %q, want %q", dir, got, want)
		}
	}
}
