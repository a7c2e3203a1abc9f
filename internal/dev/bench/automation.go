package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"scorel/client"
	"scorel/internal/host/daemon"
	"scorel/protocol"
)

// patience is how long is waited for something that takes the host milliseconds.
const patience = time.Minute

// until asks again and again until something is so.
func until(ctx context.Context, what string, is func() (bool, error)) error {
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		ok, err := is()
		switch {
		case err != nil || ok:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(end):
			return fmt.Errorf("%s within %v", what, patience)
		}
	}
}

// armed measures what schedules that wait take of a host that has nothing else to do.
func armed(ctx context.Context, b *bench, n int) ([]figure, error) {
	memory := figure{Key: "armed", Name: fmt.Sprintf("%d armed schedules: anonymous, beside none", b.load.schedules), Unit: "MB", Goal: 2}
	wakes := figure{Key: "armed.wakes", Name: "the same: times that the host is woken in a minute, beside none", Unit: "", Goal: 3}
	for range repeats(n) {
		without, idle, err := b.armedHost(ctx, 0)
		if err != nil {
			return []figure{memory, wakes}, err
		}
		with, woken, err := b.armedHost(ctx, b.load.schedules)
		if err != nil {
			return []figure{memory, wakes}, err
		}
		memory.Values = append(memory.Values, with-without)
		wakes.Values = append(wakes.Values, woken-idle)
	}
	return []figure{memory, wakes}, nil
}

// armedHost returns the anonymous memory of a host with so many schedules, in megabytes, and
// how often its busiest thread waits in a minute, which is how often it was woken.
func (b *bench) armedHost(ctx context.Context, schedules int) (mb, wakes float64, err error) {
	s, err := b.serve(ctx, 0)
	if err != nil {
		return 0, 0, err
	}
	defer s.end()
	c, err := s.connect(ctx)
	if err != nil {
		return 0, 0, err
	}
	for i := range schedules {
		if _, err := client.Call[*protocol.Schedule](ctx, c, "", &protocol.CreateSchedule{Name: fmt.Sprintf("s%d", i), When: fmt.Sprintf("%d %d 1 1 *", i%60, i/60%24),
			Prompt: "Look at the build.", Target: string(protocol.TargetFresh), WorkDir: s.world.work}); err != nil {
			_ = c.Close()
			return 0, 0, err
		}
	}
	if err := c.Close(); err != nil {
		return 0, 0, err
	}
	if err := s.again(ctx); err != nil { // what making them took is not what they take
		return 0, 0, err
	}
	time.Sleep(settling)
	m, err := readMemory(s.cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	before, err := waits(s.cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(b.load.watched)
	after, err := waits(s.cmd.Process.Pid)
	most := 0.0
	for thread, n := range after {
		most = max(most, n-before[thread])
	}
	return m.Anonymous / mega, most * float64(time.Minute/b.load.watched), err
}

// waits returns how often each thread of a process has waited for something.
func waits(pid int) (map[string]float64, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, t := range threads {
		data, err := os.ReadFile(dir + "/" + t.Name() + "/status")
		if err != nil {
			continue // it has ended
		}
		for line := range bytes.Lines(data) {
			if rest, ok := bytes.CutPrefix(line, []byte("voluntary_ctxt_switches:")); ok {
				n, err := strconv.ParseFloat(string(bytes.TrimSpace(rest)), 64)
				if err != nil {
					return nil, err
				}
				out[t.Name()] = n
			}
		}
	}
	return out, nil
}

// due measures how long after the instant at which a schedule is due its message is stored: in
// sessions that have to be opened for it, and then in the same ones, which are open.
func due(ctx context.Context, b *bench, n int) ([]figure, error) {
	closed := figure{Key: "due", Name: fmt.Sprintf("from due to the stored message, closed session of %d events: p99", b.load.missed*10), Unit: "ms", Goal: 250}
	open := figure{Key: "due.open", Name: "the same, an open session", Unit: "ms", Goal: 50}
	s, err := b.serve(ctx, 0)
	if err != nil {
		return []figure{closed, open}, err
	}
	defer s.end()
	if err := b.server.load(ctx, "{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"I am there.\"}]}\n", true); err != nil {
		return []figure{closed, open}, err
	}
	if err := s.fillWith(ctx, max(3, n), b.load.missed*10); err != nil {
		return []figure{closed, open}, err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return []figure{closed, open}, err
	}
	defer func() { _ = c.Close() }()
	list, err := client.Call[*protocol.SessionList](ctx, c, "", &protocol.ListSessions{})
	if err != nil {
		return []figure{closed, open}, err
	}
	var ids []protocol.SessionID
	for _, sum := range list.Sessions {
		ids = append(ids, sum.SessionID)
	}
	late, err := fire(ctx, c, ids)
	if err != nil {
		return []figure{closed, open}, err
	}
	closed.Values, closed.Runs = series{late.quantile(0.99)}, late
	for _, id := range ids {
		if _, err := c.Open(ctx, id, 50); err != nil {
			return []figure{closed, open}, err
		}
	}
	if late, err = fire(ctx, c, ids); err != nil {
		return []figure{closed, open}, err
	}
	open.Values, open.Runs = series{late.quantile(0.99)}, late
	return []figure{closed, open}, nil
}

// apart is the time between two schedules that are due: one run is not measured beside another.
const apart = 1500 * time.Millisecond

// fire has a schedule be due once in each session, and returns how much later each message is
// stored, in milliseconds.
func fire(ctx context.Context, c *client.Client, ids []protocol.SessionID) (late series, err error) {
	made := map[protocol.ScheduleID]bool{}
	for _, id := range ids {
		one, err := client.Call[*protocol.Schedule](ctx, c, id, &protocol.CreateSchedule{When: "in 10s", Prompt: "Are you there?"})
		if err != nil {
			return nil, err
		}
		made[one.ScheduleID] = true
		time.Sleep(apart)
	}
	err = until(ctx, "the schedules did not run", func() (bool, error) {
		runs, err := client.Call[*protocol.RunList](ctx, c, "", &protocol.ListRuns{Limit: len(ids)})
		if err != nil {
			return false, err
		}
		late = nil
		for _, r := range runs.Runs {
			if made[r.ScheduleID] && r.State == protocol.RunCompleted {
				late = append(late, float64(r.StartedAt-r.Due))
			}
		}
		return len(late) == len(ids), nil
	})
	return late, err
}

// wakes measures how long after the end of an agent in the background its session asks the
// model, which nobody has told to.
func wakes(ctx context.Context, b *bench, n int) ([]figure, error) {
	f := figure{Key: "wake", Name: "from the end of a background agent to the model's request", Unit: "ms", Goal: 50}
	s, err := b.serve(ctx, 0)
	if err != nil {
		return []figure{f}, err
	}
	defer s.end()
	script := inOrder(0, `{"call":"Task","id":"c1","input":{"description":"look","prompt":"Look at the notes.","agent":"general","background":true}}`,
		`{"text":"It works."}`, `{"text":"It works."}`, `{"text":"It has ended."}`)
	for range n {
		ms, err := s.woken(ctx, script)
		if err != nil {
			return []figure{f}, err
		}
		f.Values = append(f.Values, ms)
	}
	return []figure{f}, nil
}

// woken has an agent end in an idle session, and returns how much later the model is asked, in
// milliseconds.
func (s *serving) woken(ctx context.Context, script string) (float64, error) {
	server := s.b.server
	if err := server.load(ctx, script, false); err != nil {
		return 0, err
	}
	// The agent and its session ask at about the same time; the third waits, so that the
	// agent has not ended before its session has asked.
	if err := server.reset(ctx, 3); err != nil {
		return 0, err
	}
	if _, err := s.command(ctx, "bg", "Have somebody look."); err != nil {
		return 0, err
	}
	if err := server.held(ctx); err != nil {
		return 0, err
	}
	time.Sleep(settling / 10)
	if err := server.release(ctx); err != nil {
		return 0, err
	}
	var v []visit
	err := until(ctx, "no turn began by itself", func() (ok bool, err error) {
		v, err = server.visits(ctx)
		return len(v) == 4, err
	})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(v, func(x, y visit) int { return cmp.Compare(x.Arrived, y.Arrived) })
	return float64(v[3].Arrived-max(v[1].Answered, v[2].Answered)) / 1e6, nil
}

// command runs a command beside the host, and returns what it took, in milliseconds.
func (s *serving) command(ctx context.Context, args ...string) (float64, error) {
	cmd := exec.CommandContext(ctx, s.b.bin, args...)
	cmd.Dir, cmd.Env = s.world.work, s.world.environ()
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("scorel %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return milliseconds(time.Since(begun)), nil
}

// background measures the commands about sessions that nobody watches.
func background(ctx context.Context, b *bench, n int) ([]figure, error) {
	ps := figure{Key: "ps", Name: fmt.Sprintf("scorel ps --all, %d sessions", b.load.idle/5), Unit: "ms", Goal: 30}
	bg := figure{Key: "bg", Name: "scorel bg, a host runs", Unit: "ms", Goal: 80}
	s, err := b.serve(ctx, b.load.idle/5)
	if err != nil {
		return []figure{ps, bg}, err
	}
	defer s.end()
	if err := s.use(ctx, b.load.used); err != nil {
		return []figure{ps, bg}, err
	}
	for range n {
		ms, err := s.command(ctx, "ps", "--all")
		if err != nil {
			return []figure{ps, bg}, err
		}
		ps.Values = append(ps.Values, ms)
		if ms, err = s.command(ctx, "bg", "Are you there?"); err != nil {
			return []figure{ps, bg}, err
		}
		bg.Values = append(bg.Values, ms)
	}
	return []figure{ps, bg}, nil
}

// supervised measures how long a host that was killed is away when it has a supervisor.
func supervised(ctx context.Context, b *bench, n int) ([]figure, error) {
	f := figure{Key: "supervised", Name: "from the kill of a supervised host until one serves", Unit: "ms", Goal: 2500}
	for range repeats(n) {
		s, err := b.serveWith(ctx, []string{"--supervise"}, func(*serving) error { return nil })
		if err != nil {
			return []figure{f}, err
		}
		ms, err := s.killed(ctx)
		s.end()
		if err != nil {
			return []figure{f}, err
		}
		f.Values = append(f.Values, ms)
	}
	return []figure{f}, nil
}

// killed kills the host of a supervisor, and returns when another serves, in milliseconds.
func (s *serving) killed(ctx context.Context) (float64, error) {
	was, live, err := daemon.Find(s.dir())
	if err != nil || !live {
		return 0, fmt.Errorf("no host runs: %w", err)
	}
	begun := time.Now()
	if err := syscall.Kill(was.PID, syscall.SIGKILL); err != nil {
		return 0, err
	}
	err = until(ctx, "the host is not started again", func() (bool, error) {
		info, live, err := daemon.Find(s.dir())
		return err == nil && live && info.PID != was.PID && info.Ready(), nil
	})
	return milliseconds(time.Since(begun)), err
}
