package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"scorel/internal/platform/sandbox/stage"
)

// gate holds an unconfined child back until its group is recorded: the shell
// waits for a line on the descriptor %d and then becomes the program. When the
// host dies first the read fails and nothing has happened. dash needs 0.5 ms for
// it.
const gate = `IFS= read -r x <&%d || exit 125; exec %d<&-; exec "$@"`

// guardedGate is the gate of a helper, with a guard: a process of its group, and no child
// of it, that ends the group when the host has died without doing so. The helper has 2 s
// to end by itself, since it sees the end of its stdin. The descriptor is %[1]d.
const guardedGate = `IFS= read -r x <&%[1]d || exit 125; ( { IFS= read -r x; sleep 2; kill -9 0; } <&%[1]d >/dev/null 2>&1 & ); exec %[1]d<&-; exec "$@"`

const (
	stageTime = 30 * time.Second // for a stage to set up a command
	maxRefuse = 4096             // bytes of its reason for not doing so
)

// hold keeps a started child back, by a descriptor whose other end is ours.
type hold struct {
	l            *launch
	ours, theirs *os.File
}

// hold makes the pipe of the gate or the socket of the stage.
func (l *launch) hold() (*hold, error) {
	if l.plan == nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		return &hold{l, w, r}, nil
	}
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	_ = unix.SetNonblock(fds[0], true) // so that reading can end at a deadline
	return &hold{l, os.NewFile(uintptr(fds[0]), "stage"), os.NewFile(uintptr(fds[1]), "stage")}, nil
}

func (h *hold) close() {
	h.ours.Close()
	h.theirs.Close()
}

// command returns the process to start, which finds its end as the descriptor fd.
func (h *hold) command(fd int) *exec.Cmd {
	if h.l.plan == nil {
		text := fmt.Sprintf(gate, fd, fd)
		if h.l.guarded {
			text = fmt.Sprintf(guardedGate, fd)
		}
		return exec.Command("/bin/sh", append([]string{"-c", text, "sh", h.l.path}, h.l.args...)...)
	}
	// The link leads to the running binary also when its file was replaced or
	// removed.
	cmd := exec.Command(cmp.Or(program(), "/proc/self/exe"), stage.Name, fmt.Sprint(fd))
	cmd.Args[0] = "scorel"
	return cmd
}

// release lets the child go on. For a stage it waits until the command is
// confined and about to be executed.
func (h *hold) release(ctx context.Context, pid int) error {
	h.theirs.Close() // so that reading ends with the child
	if h.l.plan == nil {
		_, err := h.ours.Write([]byte("\n"))
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		close(ended)
	})
	defer func() {
		if !stop() {
			<-ended // the caller may reap the child then, and its number be another's
		}
	}()
	_ = h.ours.SetDeadline(time.Now().Add(stageTime))
	if _, err := h.ours.Write(h.l.plan); err != nil {
		return fmt.Errorf("the sandbox cannot be made: its process ended: %w", err)
	}
	raw, err := h.ours.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
	if err != nil {
		return fmt.Errorf("the sandbox cannot be made: %w", err)
	}
	var answer [maxRefuse]byte
	n := 0
	for n < len(answer) {
		m, err := h.ours.Read(answer[n:])
		n += m
		if err != nil {
			if os.IsTimeout(err) {
				return fmt.Errorf("the sandbox cannot be made: nothing was ready within %d s", int(stageTime.Seconds()))
			}
			break
		}
	}
	text, ready := strings.CutPrefix(string(answer[:n]), string(stage.Ready))
	switch {
	case ready && text == "":
		return nil
	case ready:
		return errors.New(text)
	case ctx.Err() != nil:
		return ctx.Err()
	case text == "":
		return errors.New("the sandbox cannot be made: its process ended at once")
	}
	return fmt.Errorf("the sandbox cannot be made: %s. If it cannot be helped, set mode = \"off\" under [sandbox] in ~/.scorel/config.toml", text)
}
