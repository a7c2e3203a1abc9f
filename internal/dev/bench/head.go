package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// head returns where and when figures were measured.
type head struct {
	Commit     string `json:"commit"`
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Kernel     string `json:"kernel"`
	FileSystem string `json:"fileSystem"`
	Go         string `json:"go"`
	N          int    `json:"n"`
	Date       string `json:"date"`
}

// newHead describes this machine, with the file system that holds dir.
func newHead(dir string, n int) head {
	return head{Commit: commit(), CPU: cpu(), Cores: runtime.NumCPU(), Kernel: kernel(), FileSystem: fileSystem(dir),
		Go: runtime.Version(), N: n, Date: time.Now().Format(time.DateOnly)}
}

func (h head) String() string {
	return fmt.Sprintf("scorel %s · %s, %d cores · %s · %s · %s · n=%d · %s", h.Commit, h.CPU, h.Cores, h.Kernel, h.FileSystem, h.Go, h.N, h.Date)
}

// commit names what is checked out, with a + when files differ from it.
func commit() string {
	id, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(id))
	if changes, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(changes) > 0 {
		name += "+"
	}
	return name
}

func cpu() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// settle waits until nothing is left to be written, so that neither the next run
// waits for it nor the memory of a file that is still being written is counted.
func settle() { unix.Sync() }
