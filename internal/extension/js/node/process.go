package node

import (
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strings"
	"syscall"

	"github.com/dop251/goja"
	"golang.org/x/sys/unix"

	"scorel/internal/extension/js/engine"
)

func platform() string { return runtime.GOOS }

func arch() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x64"
	case "386":
		return "ia32"
	}
	return runtime.GOARCH
}

func osNative(e *engine.Engine) goja.Value {
	o := newObject(e)
	o.value("platform", platform())
	o.value("arch", arch())
	o.value("cpus", runtime.NumCPU())
	var u unix.Utsname
	_ = unix.Uname(&u)
	o.value("machine", unix.ByteSliceToString(u.Machine[:]))
	o.function("release", func(goja.FunctionCall) goja.Value {
		return e.VM.ToValue(unix.ByteSliceToString(u.Release[:]))
	})
	o.function("hostname", func(goja.FunctionCall) goja.Value {
		name, err := os.Hostname()
		if err != nil {
			e.Throw(nodeError(err, "gethostname", "", ""))
		}
		return e.VM.ToValue(name)
	})
	o.function("home", func(goja.FunctionCall) goja.Value {
		home, err := os.UserHomeDir()
		if err != nil {
			e.Throw(fmt.Errorf("the home folder is not known: %w", err))
		}
		return e.VM.ToValue(home)
	})
	o.function("user", func(goja.FunctionCall) goja.Value {
		out := e.VM.NewObject()
		_ = out.Set("uid", os.Getuid())
		_ = out.Set("gid", os.Getgid())
		if u, err := user.Current(); err == nil {
			_ = out.Set("username", u.Username)
			_ = out.Set("homedir", u.HomeDir)
		}
		_ = out.Set("shell", os.Getenv("SHELL"))
		return out
	})
	o.function("memory", func(goja.FunctionCall) goja.Value {
		total, free := machineMemory()
		return e.VM.NewArray(total, free)
	})
	o.function("uptime", func(goja.FunctionCall) goja.Value { return e.VM.ToValue(uptime()) })
	o.function("loadavg", func(goja.FunctionCall) goja.Value {
		l := loadAverage()
		return e.VM.NewArray(l[0], l[1], l[2])
	})
	o.function("signals", func(goja.FunctionCall) goja.Value {
		out := e.VM.NewObject()
		for s := syscall.Signal(1); s < 32; s++ {
			if name := unix.SignalName(s); name != "" {
				_ = out.Set(name, int(s))
			}
		}
		return out
	})
	return o
}

func processNative(e *engine.Engine) goja.Value {
	o := newObject(e)
	o.value("platform", platform())
	o.value("arch", arch())
	o.value("pid", os.Getpid())
	o.value("ppid", os.Getppid())
	o.value("uid", os.Getuid())
	o.value("gid", os.Getgid())
	o.value("cwd", e.Config().Cwd)
	o.value("entry", e.Config().Root)
	exe, _ := os.Executable()
	o.value("execPath", exe)
	o.value("version", runtime.Version())
	o.function("env", func(goja.FunctionCall) goja.Value {
		env := e.VM.NewObject()
		for _, entry := range e.Config().Env {
			if k, v, ok := strings.Cut(entry, "="); ok {
				_ = env.Set(k, v)
			}
		}
		return env
	})
	o.function("memoryUsage", func(goja.FunctionCall) goja.Value {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		out := e.VM.NewObject()
		_ = out.Set("rss", m.Sys)
		_ = out.Set("heapTotal", m.HeapSys)
		_ = out.Set("heapUsed", m.HeapAlloc)
		_ = out.Set("external", 0)
		_ = out.Set("arrayBuffers", 0)
		return out
	})
	o.function("signal", signalNumber(e))
	o.function("kill", func(c goja.FunctionCall) goja.Value {
		pid := int(c.Argument(0).ToInteger())
		if err := syscall.Kill(pid, syscall.Signal(c.Argument(1).ToInteger())); err != nil {
			e.Throw(nodeError(err, "kill", "", ""))
		}
		return goja.Undefined()
	})
	return o
}

func signalNumber(e *engine.Engine) func(goja.FunctionCall) goja.Value {
	return func(c goja.FunctionCall) goja.Value {
		name := c.Argument(0).String()
		s := unix.SignalNum(name)
		if s == 0 {
			e.Throw(fmt.Errorf("there is no signal %q", name))
		}
		return e.VM.ToValue(int(s))
	}
}
