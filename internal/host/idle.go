package host

import "time"

// IdleSince says since when the host has had nothing to do. It is false while there
// is something.
func (h *Host) IdleSince() (time.Time, bool) { return time.Time{}, false }
