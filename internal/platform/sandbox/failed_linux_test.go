package sandbox

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestAStartThatFailsNamesNoFolderForTemporaryFiles(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	w.profile.TempDir = filepath.Join(w.ws, "private-place")
	var out bytes.Buffer
	c := bash("true", &out)
	c.Dir = w.ws
	_, err := New(Config{Profile: &w.profile}).Start(t.Context(), c)
	if err == nil || strings.Contains(err.Error(), "private-place") || !strings.Contains(err.Error(), "close the session and open it again") {
		t.Errorf("it says %v", err)
	}
}
