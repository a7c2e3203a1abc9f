package daemon

import (
	"net"
	"strings"
)

// notifySocket is the variable in which systemd names the socket for its services
// (sd_notify(3)).
const notifySocket = "NOTIFY_SOCKET"

// notifyManager tells a service manager that started this process how it stands, such as
// READY=1. Without one, or when it does not listen, nothing happens: it has a time-out.
func notifyManager(environ []string, state string) {
	name := ""
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, notifySocket+"="); ok {
			name = value
		}
	}
	if name == "" || name[0] != '/' && name[0] != '@' {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"}) // @ is the abstract namespace
	if err != nil {
		return
	}
	_, _ = c.Write([]byte(state))
	_ = c.Close()
}

// withoutManager returns the environment for what the host starts, which has nothing to tell
// the service manager.
func withoutManager(environ []string) []string {
	out := make([]string, 0, len(environ))
	for _, v := range environ {
		if !strings.HasPrefix(v, notifySocket+"=") {
			out = append(out, v)
		}
	}
	return out
}
