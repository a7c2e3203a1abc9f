package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// sandboxExec runs a program under a profile of macOS's own sandbox.
const sandboxExec = "/usr/bin/sandbox-exec"

// Detect returns what this system can hold. It looks once a process.
func Detect() Status { return detect() }

var detect = sync.OnceValue(func() Status {
	info, err := os.Stat(sandboxExec)
	return seatbeltStatus(err == nil && info.Mode().IsRegular())
})

// confine returns the command under sandbox-exec.
func (p Profile) confine(c Cmd, path string) (*launch, error) {
	if Detect().Level == Unconfined {
		return nil, errors.New("the sandbox cannot be made: " + sandboxExec + " is missing; set mode = \"off\" under [sandbox] in ~/.scorel/config.toml to run commands without one")
	}
	for _, dir := range []*string{&p.TempDir, &p.CacheDir, &p.Home} {
		if real, err := filepath.EvalSymlinks(*dir); err == nil {
			*dir = real
		}
	}
	if p.TempDir == "" {
		return nil, errors.New("a confined command needs a folder for temporary files")
	}
	roots := make([]string, len(p.Roots))
	for i, root := range p.Roots {
		var err error
		if roots[i], err = filepath.EvalSymlinks(root); err == nil {
			err = inPlace(i, root, roots[i])
		}
		if err != nil {
			return nil, err
		}
	}
	p.Roots = roots
	args := []string{"-p", p.seatbelt(), path}
	return &launch{path: sandboxExec, args: append(args, c.Args...), env: p.confinedEnviron(c.Env, p.TempDir, p.seatbeltWritable()), attr: &syscall.SysProcAttr{}}, nil
}
