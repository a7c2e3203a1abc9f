package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"scorel/internal/engine/heartbeat"
)

var errTooLarge = fmt.Errorf("has more than %d KiB", heartbeat.MaxFile>>10)

// heartbeat returns the item of the two files of a project's heartbeats, none without a
// HEARTBEAT.md.
func (s *scan) heartbeat() ([]Item, error) {
	items, err := s.single(KindHeartbeat, heartbeat.File, nil)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	it := &items[0]
	f, err := s.hash(KindHeartbeat, heartbeat.File, heartbeat.Standing)
	if err == nil && f.Size > heartbeat.MaxFile {
		err = errTooLarge
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("is beside an AGENTS.md that %w", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if err := it.take(f, err); err != nil {
			return nil, err
		}
	}
	if it.Problem == "" && it.Files[0].Size > heartbeat.MaxFile {
		it.Problem, it.Files = errTooLarge.Error(), nil
	}
	slices.SortFunc(it.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	if it.Problem != "" {
		return items, nil
	}
	data, _, err := s.read(heartbeat.File, heartbeat.MaxFile)
	if err != nil {
		return items, nil // it is gone meanwhile
	}
	it.Does = beats(heartbeat.Parse(data), len(it.Files) > 1)
	return items, nil
}

// beats are what heartbeats do, and what of them does not count.
func beats(l *heartbeat.List, standing bool) []string {
	var out []string
	for _, t := range l.Tasks {
		out = append(out, fmt.Sprintf("sends by itself %s (%s): %s", t.Words(), t.Name, strings.Join(strings.Fields(t.Prompt), " ")))
	}
	if standing && len(out) > 0 {
		out = append(out, "sends "+heartbeat.Standing+" before each of these")
	}
	return clipTo(maxBeats, append(out, l.Problems...))
}
