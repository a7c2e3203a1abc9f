package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"scorel/internal/platform/disk"
)

// PermanentExit is the exit code of a supervised host whose fault another start does not
// mend, such as a wrong configuration (EX_CONFIG of sysexits.h): it is not started again.
const PermanentExit = 78

// How a host is started again: after restartFirst, and after twice as long each time, at most
// restartMost. After maxRapid runs in a row that were shorter than rapidRun it is not started
// any more; a longer run begins the count and the time again.
const (
	restartFirst = 2 * time.Second
	restartMost  = 120 * time.Second
	rapidRun     = 10 * time.Second
	maxRapid     = 5
	// stopGrace is what a host has to end when the supervisor is to end: more than what its
	// turns get.
	stopGrace = 35 * time.Second
)

// Supervision says what a supervisor starts.
type Supervision struct {
	Dir     string // the folder of Scorel
	Program string
	Args    []string // of the host
	Environ []string
	Signals <-chan os.Signal // passed on to the host; the first one ends the supervisor with it
	Ready   *os.File         // on which the first host says that clients can come; may be nil
	Now     func() time.Time
	Echo    io.Writer // gets the lines of the log too; may be nil

	first, most, rapid, grace time.Duration // of tests; 0: the constants
}

// PermanentError says why a host is not started again.
type PermanentError struct{ Err error }

func (e PermanentError) Error() string { return e.Err.Error() }

func (e PermanentError) Unwrap() error { return e.Err }

// ConfigError says that a host cannot run as it is set up: config.toml is wrong.
type ConfigError struct{ Err error }

func (e ConfigError) Error() string { return e.Err.Error() }

func (e ConfigError) Unwrap() error { return e.Err }

// WrongConfig marks it for who decides on the exit code.
func (e ConfigError) WrongConfig() {}

// configExit is the exit code of a host in the background that ended with a [ConfigError].
const configExit = 2

// Supervise runs a host and starts it again when it fails, until it is stopped. It returns a
// [PermanentError] when starting it again is of no use.
func Supervise(ctx context.Context, cfg Supervision) error {
	if err := disk.OS().MkdirAll(cfg.Dir); err != nil {
		return unusable(cfg.Dir, err)
	}
	s := &supervisor{cfg: cfg, echo: newEcho(cfg.Echo), delay: cmp.Or(cfg.first, restartFirst)}
	defer s.echo.close()
	for {
		again, err := s.run(ctx)
		if !again {
			return err
		}
	}
}

// supervisor is one [Supervise].
type supervisor struct {
	cfg   Supervision
	echo  *echo
	delay time.Duration // before the next start
	short int           // runs in a row that were too short
}

// line adds a line to the log, which the host has open most of the time and sets aside. One
// that cannot be written is lost.
func (s *supervisor) line(format string, args ...any) {
	log, err := openLog(Log(s.cfg.Dir), boundOf(s.cfg.Dir), s.cfg.Now, s.echo)
	if err == nil {
		log.line("supervisor: "+format, args...)
		log.close()
	}
}

// run runs the host once, and waits until it may be started again; again is false when it is
// not to be.
func (s *supervisor) run(ctx context.Context) (again bool, err error) {
	began := s.cfg.Now()
	p, err := startSupervised(s.cfg.Program, s.cfg.Args, s.cfg.Environ, s.cfg.Ready)
	if s.cfg.Ready != nil {
		_ = s.cfg.Ready.Close()
		s.cfg.Ready = nil
		s.cfg.Args = withoutReady(s.cfg.Args)
	}
	if err != nil {
		return false, fmt.Errorf("start the host: %w", err)
	}
	how, code, stopped := s.await(ctx, p)
	switch {
	case stopped && code == 0:
		return false, nil
	case stopped:
		return false, ErrKilled
	case code == 0: // a client has stopped it, or another host takes its place
		return false, nil
	case code == PermanentExit:
		return false, s.park(ConfigError{fmt.Errorf("the host cannot run as it is set up; see %s", Log(s.cfg.Dir))})
	}
	if s.cfg.Now().Sub(began) >= cmp.Or(s.cfg.rapid, rapidRun) {
		s.short, s.delay = 0, cmp.Or(s.cfg.first, restartFirst)
	} else if s.short++; s.short == maxRapid {
		return false, s.park(fmt.Errorf("the host has ended %d times in a row within %v of its start (%s); see %s", maxRapid, cmp.Or(s.cfg.rapid, rapidRun), how, Log(s.cfg.Dir)))
	}
	s.line("the host has ended (%s); it is started again in %v", how, s.delay)
	wait := time.NewTimer(s.delay)
	defer wait.Stop()
	s.delay = min(2*s.delay, cmp.Or(s.cfg.most, restartMost))
	select {
	case <-wait.C:
		return true, nil
	case <-s.cfg.Signals:
	case <-ctx.Done():
	}
	return false, nil
}

// park notes that the host is not started again.
func (s *supervisor) park(err error) error {
	s.line("not started again: %v", err)
	return PermanentError{err}
}

// await waits for the end of a host, and passes signals on to it; stopped says that it was to
// end.
func (s *supervisor) await(ctx context.Context, p *process) (how string, code int, stopped bool) {
	type end struct {
		how  string
		code int
	}
	ended := make(chan end, 1)
	go func() { // ends with the host
		how, code := p.wait()
		ended <- end{how, code}
	}()
	done := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case e := <-ended:
			return e.how, e.code, stopped
		case sig := <-s.cfg.Signals:
			p.signal(sig)
		case <-done:
			done = nil
			p.signal(syscall.SIGTERM)
		case <-late:
			s.line("the host has not ended within %v; it is killed", cmp.Or(s.cfg.grace, stopGrace))
			p.signal(os.Kill)
			continue
		}
		if !stopped {
			timer := time.NewTimer(cmp.Or(s.cfg.grace, stopGrace))
			defer timer.Stop()
			late = timer.C
		}
		stopped = true
	}
}

// withoutReady takes the descriptor of the first start out of the arguments.
func withoutReady(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--ready-fd" {
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// Permanent reports whether starting the host again would not help.
func Permanent(err error) bool {
	var permanent PermanentError
	var live *LiveError
	return errors.As(err, &permanent) || errors.As(err, &live)
}
