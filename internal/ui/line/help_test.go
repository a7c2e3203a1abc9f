package line

import (
	"strings"
	"testing"

	"scorel/internal/text/cell"
)

func TestALongCommandOfHelpHasItsDescriptionBelow(t *testing.T) {
	long := "/job run NAME [PARAMETER=VALUE …] | list | stop JOB | pause JOB | resume JOB"
	lines := cell.Columns(append(helpRows("/mode MODE", "The permission mode"), helpRows(long, "start sessions")...))
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "/mode MODE  The permission mode") || lines[1] != long || strings.TrimSpace(lines[2]) != "start sessions" || cell.Width(lines[2]) > 80 {
		t.Errorf("%q", lines)
	}
}
