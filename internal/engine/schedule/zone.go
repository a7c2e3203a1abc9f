package schedule

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a device without zone files knows the zones, too

	"scorel/internal/platform/lru"
)

// Zones that are kept: schedules share them. What is kept of one has a few KiB.
const (
	maxZones  = 64
	keptZones = 48
)

var zones = lru.New[string, *time.Location](maxZones, keptZones)

// loadZone returns the zone of an IANA name.
func loadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Get(name); ok {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("there is no time zone %s; write a name of IANA, such as Europe/Berlin or UTC", show(name))
	}
	zones.Put(name, zone)
	return zone, nil
}
