package js

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/rpc"
	"scorel/internal/platform/sandbox"
)

// maxStack is where Go ends the process for a stack that is full: deep recursion in the
// interpreter or the bundler must not take a gigabyte first.
const maxStack = 64 << 20

// While extensions are loaded most of what is made lives on, and collecting it again and
// again would take a third of the time: the heap may grow to 64 MB before the first time.
// Afterwards it is Go's own rule, at first not beside what the session begins with.
const (
	loadPercent  = 1600 // as GOGC, of at least 4 MB
	usualPercent = 100
	usualAfter   = 2 * time.Second // from the first request of the session
)

// Main is the process `scorel __extensions`: args stand after that name. It returns the
// exit code when the host has closed the input. Version is of Scorel.
func Main(args []string, version string, prelude []Script) int {
	return MainWithin(Limits{}, args, version, prelude)
}

// Limits are how long extensions may take. Zero values mean what the constants say.
type Limits struct {
	Handler time.Duration // of a handler's own time: handlerLimit
	Busy    time.Duration // without a return to the event loop: engine.InterruptAfter
}

// MainWithin is Main with other limits, so that tests need not wait for these.
func MainWithin(limits Limits, args []string, version string, prelude []Script) int {
	debug.SetMaxStack(maxStack)
	debug.SetGCPercent(loadPercent)
	var page *rpc.Page
	if len(args) > 0 {
		fd, err := strconv.Atoi(args[0])
		if err == nil && fd > 2 {
			f := os.NewFile(uintptr(fd), "page")
			page, err = rpc.MapPage(f)
			f.Close()
		}
		if err != nil || page == nil {
			fmt.Fprintln(os.Stderr, "scorel: this command is for Scorel itself, which starts it with a page of memory; see scorel --help for commands")
			return 2
		}
	}
	limit, _ := strconv.ParseUint(os.Getenv(rpc.EnvMemory), 10, 63)
	watch := engine.NewWatch(page, limit, limits.Busy, func() {
		fmt.Fprintln(os.Stderr, "scorel: the extensions of this session hold too much memory")
		os.Exit(1)
	})
	err := Serve(Config{In: os.Stdin, Out: os.Stdout, Prelude: prelude, Page: page, Watch: watch, Handler: limits.Handler,
		Env: sandbox.Environ(os.Environ(), nil), Version: version,
		Began: func() { time.AfterFunc(usualAfter, func() { debug.SetGCPercent(usualPercent) }) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, "scorel:", err)
		return 1
	}
	return 0
}
