package repository

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// committed makes a repository with a few commits; pack says whether Git packs it.
func committed(t *testing.T, pack bool) (dir string, want map[string]string) {
	t.Helper()
	dir = folder(t)
	git(t, dir, "init", "-q", "-b", "main", ".")
	git(t, dir, "config", "user.name", "n")
	git(t, dir, "config", "user.email", "e@x")
	chance := rand.New(rand.NewSource(1))
	long := make([]string, 4000)
	for i := range long {
		long[i] = fmt.Sprintf("line %d %d", i, chance.Int())
	}
	for round := range 5 { // so that a pack has differences
		long[round*100] = fmt.Sprint("changed in round ", round)
		want = map[string]string{"a.txt": "one\n", "empty": "", "deep/er/b.go": fmt.Sprint("package b // ", round), "long.txt": strings.Join(long, "\n")}
		for name, text := range want {
			plant(t, filepath.Join(dir, name), text)
		}
		if round == 0 {
			if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
		}
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", fmt.Sprint(round))
	}
	if pack {
		git(t, dir, "gc", "-q", "--prune=now")
	}
	return dir, want
}

func TestFilesOfTheLastCommitAreReadWithoutGit(t *testing.T) {
	for _, pack := range []bool{false, true} {
		t.Run(fmt.Sprint("packed ", pack), func(t *testing.T) {
			dir, want := committed(t, pack)
			worktree := filepath.Join(folder(t), "other")
			git(t, dir, "worktree", "add", "-q", worktree)
			plant(t, filepath.Join(dir, "a.txt"), "not committed")
			for _, at := range []string{dir, filepath.Join(dir, "deep", "er"), worktree} {
				h, err := OpenHead(at)
				if err != nil {
					t.Fatalf("%s: %v", at, err)
				}
				for name, text := range want {
					if got, there, err := h.File(name, 1<<20); string(got) != text || !there || err != nil {
						t.Errorf("%s of %s: %d bytes, %v, %v", name, at, len(got), there, err)
					}
				}
				for _, name := range []string{"missing", "deep", "deep/er", "a.txt/b", "link", "", "deep//er", "../a.txt"} {
					if _, there, err := h.File(name, 1<<20); there || err != nil {
						t.Errorf("%q is there: %v, %v", name, there, err)
					}
				}
				if _, _, err := h.File("long.txt", 100); err == nil {
					t.Error("a file that is too long is read")
				}
				h.Close()
			}
		})
	}
}

func TestWithoutACommitThatCanBeReadThereIsNoHead(t *testing.T) {
	empty := folder(t)
	git(t, empty, "init", "-q", empty)
	none := folder(t)
	damaged, _ := committed(t, true)
	packs, _ := filepath.Glob(filepath.Join(damaged, ".git/objects/pack/*.idx"))
	for _, name := range packs {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	loop, _ := committed(t, false)
	plant(t, filepath.Join(loop, ".git/HEAD"), "ref: refs/heads/a\n")
	plant(t, filepath.Join(loop, ".git/refs/heads/a"), "ref: refs/heads/a\n")
	outside, _ := committed(t, false)
	plant(t, filepath.Join(outside, ".git/HEAD"), "ref: refs/../../../secret\n")
	for name, dir := range map[string]string{"no commit": empty, "no repository": none, "damaged": damaged, "a loop": loop, "outside": outside} {
		if h, err := OpenHead(dir); !errors.Is(err, ErrNoHead) {
			t.Errorf("%s: %+v %v", name, h, err)
		}
	}
}

// FuzzPacks changes bytes of a pack and its index: what is read is right, or an error.
func FuzzPacks(f *testing.F) {
	f.Add(uint32(1100), uint32(40), byte(1))
	f.Fuzz(func(t *testing.T, at, in uint32, to byte) {
		dir, want := committed(t, true)
		for _, ext := range []string{"idx", "pack"} {
			names, _ := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*."+ext))
			data, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			data[int(at)%len(data)] ^= to
			data[int(in)%len(data)] ^= to
			if err := os.Chmod(names[0], 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(names[0], data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h, err := OpenHead(dir)
		if err != nil {
			return
		}
		defer h.Close()
		for name, text := range want {
			if got, there, err := h.File(name, 1<<20); err == nil && there && string(got) != text {
				t.Errorf("%s has %d other bytes", name, len(got))
			}
		}
	})
}

func TestDamagedDifferencesAreErrors(t *testing.T) {
	base := []byte("0123456789")
	for name, delta := range map[string][]byte{
		"empty":          nil,
		"another base":   {9, 1, 1, 'x'},
		"no operation":   {10, 1, 0},
		"short bytes":    {10, 3, 3, 'x'},
		"beyond base":    {10, 10, 0x90 | 1, 5, 10},
		"longer":         {10, 1, 2, 'x', 'y'},
		"shorter":        {10, 3, 1, 'x'},
		"endless number": bytes.Repeat([]byte{0xff}, 12),
		"cut operation":  {10, 3, 0x91},
	} {
		if out, err := patch(base, delta, 100); err == nil {
			t.Errorf("%s is %q", name, out)
		}
	}
	if out, err := patch(base, []byte{10, 4, 0x91, 2, 3, 1, 'x'}, 100); err != nil || string(out) != "234x" {
		t.Errorf("%q %v", out, err)
	}
}
