package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestTheFolderOfASessionThatWasReplacedByALinkIsNoWorkspace(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, other := filepath.Join(base, "work"), filepath.Join(base, "other")
	for _, dir := range []string{work, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	st := &Settings{Config: Config{Dir: filepath.Join(base, ".scorel"), StoreDir: filepath.Join(base, ".scorel"), UserHome: filepath.Join(base, "home")}}
	if dir, err := st.SessionDir(work); err != nil || dir != work {
		t.Fatalf("%s, %v", dir, err)
	}
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, work); err != nil {
		t.Fatal(err)
	}
	_, err = st.SessionDir(work)
	if err == nil || protocol.AboutOf(err).Field != "workDir" || !strings.Contains(err.Error(), "leads to "+other+" now") {
		t.Errorf("%v", err)
	}
	if dir, err := st.WorkDir(work); err != nil || dir != other { // whoever names it means it
		t.Errorf("%s, %v", dir, err)
	}
}
