package schedule

import (
	"fmt"
	"strings"
	"time"

	"scorel/protocol"
)

// Describe returns when a schedule is due, for a person: "every 5 minutes", "once at
// 2026-12-01 09:00 (Europe/Berlin)", "cron 0 9 * * 1-5 (Europe/Berlin)". It is one line
// for anything, also for what [Compile] refuses. [Parse] reads "every …". nil is UTC.
func Describe(w protocol.When, local *time.Location) string {
	if local == nil {
		local = time.UTC
	}
	switch {
	case w.Cron != "":
		zone := w.Zone
		if zone == "" {
			zone = local.String()
		}
		if zone == unnamedZone {
			zone = "local time"
		}
		return fmt.Sprintf("cron %s (%s)", plain(w.Cron), plain(zone))
	case w.EverySeconds != 0:
		return "every " + describeSpan(int64(w.EverySeconds))
	case w.At != 0:
		t := time.UnixMilli(w.At).In(local)
		layout, zone := "2006-01-02 15:04", local.String()
		if t.Second() != 0 {
			layout += ":05"
		}
		if zone == unnamedZone {
			zone = t.Format("MST")
		}
		return fmt.Sprintf("once at %s (%s)", t.Format(layout), zone)
	}
	return "never"
}

// plain returns a text as it is when that is safe to show, else as [show] does.
func plain(text string) string {
	if shown := show(text); shown != `"`+text+`"` {
		return shown
	}
	return text
}

// describeSpan writes a length of time in days, hours, minutes and seconds.
func describeSpan(seconds int64) string {
	var parts []string
	for _, u := range units[1:] {
		n := seconds / u.seconds
		seconds %= u.seconds
		switch name := u.names[1]; {
		case n == 1:
			parts = append(parts, "1 "+name)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, name))
		}
	}
	if len(parts) == 1 {
		return strings.TrimPrefix(parts[0], "1 ")
	}
	return strings.Join(parts, " ")
}
