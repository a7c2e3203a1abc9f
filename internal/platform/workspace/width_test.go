package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAHomeAndWhatItLiesInAreWideWorkspaces(t *testing.T) {
	base := folder(t)
	plant(t, base, "home/me/code/")
	link := filepath.Join(base, "link")
	if err := os.Symlink(filepath.Join(base, "home", "me"), link); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "home", "me")
	for dir, want := range map[string]Width{home: Home, filepath.Dir(home): Home, link: Home, filepath.Join(home, "code"): Narrow,
		filepath.Join(base, "home", "m"): Narrow, "/": Everything, "/..": Everything} {
		if got := WidthOf(dir, home); got != want {
			t.Errorf("%s is %v, not %v", dir, got, want)
		}
		if got := WidthOf(dir, link); got != want {
			t.Errorf("%s is %v, not %v, when the home is named by a link", dir, got, want)
		}
	}
	if WidthOf(home, "") != Narrow || WidthOf("/", "") != Everything {
		t.Error("without a home")
	}
}
