package crashtest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/dev/harness"
)

// workers is how many rounds run side by side. A round mostly waits for the disk
// and for processes to start.
const workers = 4

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if built != "" {
			_ = os.RemoveAll(built)
		}
		os.Exit(code)
	}))
}

// rounds is how many rounds a test runs: n, or twenty times as many with SCOREL_SOAK.
func rounds(n int) int {
	if os.Getenv("SCOREL_SOAK") != "" {
		return 20 * n
	}
	return n
}

// random returns a source for one worker and logs what it needs to be made again.
// When a process dies depends on the machine too, so a seed repeats a round only
// roughly.
func random(t *testing.T, seed uint64, worker int) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(seed, uint64(worker)))
}

func newSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return seed
}

// moment is when a process dies: extra after it has printed lines lines.
type moment struct {
	lines int
	extra time.Duration
}

func randomMoment(r *rand.Rand, lines int, extra time.Duration) moment {
	return moment{lines: r.IntN(lines + 1), extra: time.Duration(r.Int64N(int64(extra)))}
}

// run is what is left of a process.
type run struct {
	printed []byte
	stderr  []byte
	killed  bool // it did not end before its moment
	err     error
}

// kill starts a command and kills it at a moment with SIGKILL, which ends it
// wherever it is.
func kill(cmd *exec.Cmd, at moment) run {
	var r run
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return run{err: err}
	}
	if err := cmd.Start(); err != nil {
		return run{err: err}
	}
	reached := make(chan struct{}) // closed at the moment's line, or at the end
	var printed bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { // ends with the output, which ends with the process
		close := sync.OnceFunc(func() { close(reached) })
		defer close()
		left := at.lines
		if left == 0 {
			close()
		}
		buf := make([]byte, 32<<10)
		for {
			n, err := out.Read(buf)
			printed.Write(buf[:n])
			if left -= bytes.Count(buf[:n], []byte("\n")); left <= 0 {
				close()
			}
			if err != nil {
				return
			}
		}
	})
	<-reached
	timer := time.NewTimer(at.extra)
	<-timer.C
	_ = cmd.Process.Kill()
	reading.Wait()
	err = cmd.Wait()
	r.printed, r.stderr = printed.Bytes(), stderr.Bytes()
	if cmd.ProcessState == nil {
		return run{err: err}
	}
	r.killed = cmd.ProcessState.ExitCode() == -1
	return r
}

// logs returns the session logs of a Scorel folder.
func logs(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "sessions", "*.jsonl"))
	return found
}

// readLog reads a log and checks it.
func readLog(name string) (*Log, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return ReadLog(data)
}

// judgeLog checks a log against what was printed and what stood in it before. No
// file, or one whose header is not finished, gives nil: then nothing may have
// been printed.
func judgeLog(file string, printed, before []byte) (log *Log, n int, err error) {
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, 0, err
		}
		if bytes.IndexByte(data, '\n') >= 0 {
			if log, err = ReadLog(data); err != nil {
				return nil, 0, err
			}
		}
	}
	if len(before) > 0 && (log == nil || !bytes.HasPrefix(log.Whole, before)) {
		return nil, 0, errors.New("what stood in the log before is gone")
	}
	n, err = log.Holds(printed)
	return log, n, err
}

// each runs f in every worker and gives its errors to t.
func each(t *testing.T, f func(worker int) error) {
	t.Helper()
	errs := make(chan error, workers)
	for w := range workers {
		go func() { errs <- f(w) }() // ends when f has
	}
	for range workers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// built is the folder of the binaries, removed at the end.
var built string

// build builds the binary and what else is killed once a run of the tests, without the
// race detector, so that a round takes little.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "scorel-kill-")
	if err != nil {
		return "", err
	}
	built = dir
	return dir, harness.Build(dir, "scorel/cmd/scorel", "scorel/internal/dev/crashtest/appender", "scorel/internal/dev/crashtest/hoster")
})

func binaries(t *testing.T) string {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func tail(r io.Reader) string {
	b, _ := io.ReadAll(r)
	s := strings.TrimSpace(string(b))
	return s[max(0, len(s)-2000):]
}
