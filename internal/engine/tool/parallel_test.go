package tool

import (
	"testing"

	"scorel/internal/engine/permission"
)

func TestNoToolThatMayChangeSomethingRunsSideBySide(t *testing.T) {
	for _, x := range All() {
		if s := x.Spec(); s.Parallel && (s.Kind == permission.Write || s.Kind == permission.Exec) {
			t.Errorf("calls of %s run side by side, and its kind is %s", s.Name, s.Kind)
		}
	}
}
