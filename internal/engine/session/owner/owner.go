// Package owner says who holds a lock: what a process writes into a lock file, and what
// another reads of it.
package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Owner is what a lock file says about its holder. StartedAt is in Unix
// milliseconds. Command holds no arguments that could be secret.
type Owner struct {
	PID       int    `json:"pid"`
	StartedAt int64  `json:"startedAt"`
	Command   string `json:"command"`
}

// Text is the owner as it stands in a lock file.
func (o Owner) Text() []byte {
	text, err := json.Marshal(o)
	if err != nil {
		return nil // three plain fields always marshal
	}
	return text
}

// String names the owner in a sentence.
func (o Owner) String() string {
	if o.PID == 0 {
		return "another process"
	}
	name := o.Command
	if name == "" {
		name = "a process"
	}
	s := fmt.Sprintf("%s (process %d", name, o.PID)
	if o.StartedAt != 0 {
		s += ", started " + time.UnixMilli(o.StartedAt).Format("2006-01-02 15:04:05")
	}
	return s + ")"
}

// Parse reads the text of a lock file; what it does not understand gives an
// Owner without pid.
func Parse(text []byte) Owner {
	var o Owner
	if json.Unmarshal(text, &o) != nil {
		return Owner{}
	}
	o.Command = strings.ToValidUTF8(o.Command, "")
	return o
}

// Gone reports whether the owner is known and runs no more on this machine.
func (o Owner) Gone() bool {
	return o.PID > 0 && errors.Is(syscall.Kill(o.PID, 0), syscall.ESRCH)
}

// This returns what gives the text of this process, which began at started.
func This(started time.Time) func() []byte {
	o := Owner{PID: os.Getpid(), StartedAt: started.UnixMilli(), Command: filepath.Base(os.Args[0])}
	return o.Text
}
