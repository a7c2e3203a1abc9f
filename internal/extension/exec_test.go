package extension

import (
	"os"
	"testing"

	"scorel/internal/extension/rpc"
)

func TestAProgramWithAVeryLongTimeLimitRuns(t *testing.T) {
	s := New(Config{Environ: func() ([]string, error) { return os.Environ(), nil }})
	for _, ms := range []int64{0, 60_000, 1e13, 1<<63 - 1} {
		got, err := s.exec(t.Context(), rpc.Exec{Command: "echo", Args: []string{"done"}, TimeoutMS: ms})
		if err != nil || got.Stdout != "done\n" || got.Killed {
			t.Errorf("with %d ms: %+v, %v", ms, got, err)
		}
	}
}
