package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/session"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Sessions checks the logs by a quick look at the newest.
func Sessions(store *session.Store) Check {
	return Check{"sessions", func(ctx context.Context) Finding {
		h, err := store.Health(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			return Fail(fmt.Sprintf("the sessions cannot be read: %v", cause(err)), "Make ~/.scorel/sessions readable for you.")
		case len(h.Unread) > 0:
			text := "cannot be read: " + ids(h.Unread)
			if len(h.Damaged) > 0 {
				text += fmt.Sprintf("; damaged are %d of the %d newest: %s", len(h.Damaged), h.Looked, ids(h.Damaged))
			}
			return Warn(text, "Each says why: scorel sessions verify SESSION")
		case len(h.Damaged) > 0:
			return Warn(fmt.Sprintf("damaged are %d of the %d newest: %s", len(h.Damaged), h.Looked, ids(h.Damaged)),
				"They stay readable; look with scorel sessions verify SESSION, and repair with scorel sessions repair SESSION.")
		case len(h.Dead) > 0:
			return Warn(fmt.Sprintf("locked for a process that no longer runs: %s", ids(h.Dead)),
				"A child of that process holds the lock; end it: fuser ~/.scorel/sessions/SESSION.lock names it.")
		case h.Logs == 0:
			return OK("none yet")
		}
		text := fmt.Sprintf("%d, %d MiB; looked at: the newest %d, which are sound", h.Logs, h.Bytes>>20, h.Looked)
		if h.Aside > 0 {
			text += fmt.Sprintf("; damaged ends set aside earlier: %d", h.Aside)
		}
		return OK("%s", text)
	}}
}

// ids names the first sessions of a list.
func ids(list []protocol.SessionID) string {
	const most = 3
	var names []string
	for i, id := range list {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, string(id))
	}
	return strings.Join(names, ", ")
}

// maxRuns is how many folders of running children are looked at.
const maxRuns = 1000

// Children checks for process groups that a host which died has left running.
func Children(fsys disk.FS, dir string) Check {
	return Check{"children", func(ctx context.Context) Finding {
		entries, err := fsys.ReadDir(filepath.Join(dir, "run"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Fail(fmt.Sprintf("%s cannot be read: %v", filepath.Join(dir, "run"), cause(err)), "Make it readable for you.")
		}
		var left []protocol.SessionID
		running := 0
		for i, e := range entries {
			if i == maxRuns || ctx.Err() != nil {
				break
			}
			records := sandbox.MayRun(filepath.Join(dir, "run", e.Name()))
			if records == 0 {
				continue
			}
			if _, held, err := fsys.Holder(filepath.Join(dir, "sessions", e.Name()+".lock")); err == nil && held {
				running += records
				continue
			}
			left = append(left, protocol.SessionID(e.Name()))
		}
		if len(left) > 0 {
			return Warn(fmt.Sprintf("commands may still run of sessions whose host died: %s", ids(left)),
				"The next message to such a session ends them: scorel -p --session SESSION …")
		}
		return OK("commands that run: %d; none is left over", running)
	}}
}

// manyBytes is from where on payloads that nothing names are worth a word.
const manyBytes = 1 << 30

// Blobs counts the payloads, and those that no session names.
func Blobs(blobs *session.Blobs) Check {
	return Check{"blobs", func(ctx context.Context) Finding {
		// What is counted must be said, so the reading ends before the check does.
		ctx, stop := context.WithTimeout(ctx, Limit*3/4)
		defer stop()
		u, err := blobs.Usage(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			return Fail(fmt.Sprintf("the payloads cannot be read: %v", cause(err)), "Make ~/.scorel/blobs readable for you.")
		case err != nil:
			return OK("%d, %d MiB; there was no time to find those that no session names", u.Blobs, u.Bytes>>20)
		case u.UnnamedBytes >= manyBytes:
			return Warn(fmt.Sprintf("%d, %d MiB, are named by no session", u.Unnamed, u.UnnamedBytes>>20), "Remove them: scorel sessions prune")
		}
		if u.Blobs == 0 {
			return OK("none")
		}
		return OK("%d, %d MiB; named by no session: %d, %d MiB", u.Blobs, u.Bytes>>20, u.Unnamed, u.UnnamedBytes>>20)
	}}
}

// Processes counts the logs of process events; look is [progress.Look].
func Processes(look func(ctx context.Context) (progress.Usage, error)) Check {
	return Check{"processes", func(ctx context.Context) Finding {
		u, err := look(ctx)
		switch {
		case err != nil:
			return Fail(fmt.Sprintf("the process logs cannot be read: %v", cause(err)), "Make ~/.scorel/processes readable for you.")
		case u.LeftSize >= manyBytes:
			return Warn(fmt.Sprintf("%d MiB are logs of sessions that are gone", u.LeftSize>>20), "Remove them: scorel sessions prune")
		case u.Sessions == 0:
			return OK("none")
		}
		return OK("of %d sessions, %d MiB; of sessions that are gone: %d MiB", u.Sessions, u.Bytes>>20, u.LeftSize>>20)
	}}
}

// Clock checks that the clock is not far off: ids and lists go by it. Logs is the
// folder of the sessions.
func Clock(now func() time.Time, logs string) Check {
	return Check{"clock", func(context.Context) Finding {
		const advice = "Set the clock, or let the system keep it (timedatectl set-ntp true); new sessions would sort before old ones, and certificates fail."
		at := now()
		if y := at.Year(); y < 2025 || y > 2100 {
			return Fail("the clock says "+at.Format(time.RFC3339), advice)
		}
		// The folder's own time is that of the newest name in it.
		if info, err := os.Stat(logs); err == nil && info.ModTime().After(at.Add(10*time.Minute)) {
			return Fail(fmt.Sprintf("the clock says %s, and sessions were written at %s", at.Format(time.RFC3339), info.ModTime().Format(time.RFC3339)), advice)
		}
		return OK("%s", at.Format(time.RFC3339))
	}}
}

// muchHeap is more than a host with many sessions needs.
const muchHeap = 1 << 30

// Memory reports the heap of the host. Heap gives its bytes in use; open is how
// many sessions and connections there are.
func Memory(heap func() uint64, open func() (sessions, connections int)) Check {
	return Check{"memory", func(context.Context) Finding {
		bytes := heap()
		sessions, connections := open()
		text := fmt.Sprintf("heap %.1f MiB; goroutines: %d, open sessions: %d, connections: %d", float64(bytes)/(1<<20), runtime.NumGoroutine(), sessions, connections)
		if bytes > muchHeap {
			return Warn(text, "That is more than sessions need; restart the host, and report what it was doing.")
		}
		return OK("%s", text)
	}}
}

// Heap returns the bytes of the heap that are in use.
func Heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
