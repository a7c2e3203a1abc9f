package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAnUnreadableFileIsASentence runs itself again as an ordinary user, because
// nothing is unreadable for root.
func TestAnUnreadableFileIsASentence(t *testing.T) {
	if name := os.Getenv("CONFIG_UNREADABLE"); name != "" {
		_, err := Load(name)
		if err == nil || err.Error() != "the configuration "+name+" cannot be read: permission denied" {
			t.Fatalf("error %v", err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "config") // t.TempDir has parents that are closed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(name, []byte("prompt = 'x'"), 0); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "test")
	if err := os.WriteFile(again, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), again, "-test.run=^TestAnUnreadableFileIsASentence$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CONFIG_UNREADABLE="+name)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("as an ordinary user: %v\n%s", err, out)
	}
}
