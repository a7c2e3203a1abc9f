package failure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox/sandboxtest"
)

func TestAClosedFileIsNamedAndAClosedFolderToo(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		name := filepath.Join(dir, "projects.json")
		if err := os.WriteFile(name, []byte("{}"), 0); err != nil {
			t.Fatal(err)
		}
		_, err := disk.ReadFile(disk.OS(), name, 100)
		if got := Storage("read the projects", err).Message; !strings.HasSuffix(got, "permission denied. Make the file yours again: chmod u+rw "+name+".") {
			t.Errorf("%s", got)
		}
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
		if got := Storage("write", disk.WriteFile(disk.OS(), filepath.Join(dir, "new"), nil)).Message; !strings.Contains(got, "Make the folder writable") {
			t.Errorf("%s", got)
		}
	})
}
