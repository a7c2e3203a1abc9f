package automation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/schedule"
	"scorel/internal/platform/disk"
)

// maxDayFile bounds the file of a day, in bytes.
const maxDayFile = 4 << 10

// day counts what runs have spent since the local day began. It is durable before the next
// step of a run, so that a restart goes on counting.
type day struct {
	disk  disk.FS
	name  string
	clock schedule.Clock

	mu  sync.Mutex // guards what follows, and is held while the file is written
	now today
	all *runtime.Budget // of the runs of the day, nil before the first
	max runtime.Spend   // its limits
}

// today is what the file holds.
type today struct {
	Day    string  `json:"day"` // 2006-01-02
	USD    float64 `json:"usd"`
	Tokens int     `json:"tokens"`
}

// dayFile is the name of the file in its folder.
const dayFile = "day.json"

// openDay reads the file of a folder. A damaged one is set aside and counts as none: it says
// nothing that a person has written.
func openDay(fsys disk.FS, dir string, clock schedule.Clock) (*day, error) {
	d := &day{disk: fsys, name: filepath.Join(dir, dayFile), clock: clock}
	data, err := disk.ReadFile(fsys, d.name, maxDayFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &d.now); err != nil || d.now.Day == "" {
		d.now = today{}
		if _, err := disk.SetAside(fsys, d.name, clock.Now()); err != nil {
			return nil, fmt.Errorf("%s is damaged and cannot be set aside: %w", d.name, err)
		}
	}
	return d, nil
}

// begin begins a new day, when one has begun. A clock that goes back by a day begins none; a
// day further ahead was that of a wrong clock, and would have the limit for as long. mu is held.
func (d *day) begin() {
	now := d.clock.Now().In(d.clock.Zone())
	if day := now.Format(time.DateOnly); d.now.Day < day || d.now.Day > now.AddDate(0, 0, 1).Format(time.DateOnly) {
		d.now, d.all = today{Day: day}, nil
	}
}

// spent returns what was spent today.
func (d *day) spent() today {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begin()
	return d.now
}

// budget returns what the runs of this day may spend together.
func (d *day) budget(limits config.Automation) *runtime.Budget {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begin()
	most := runtime.Spend{USD: limits.MaxDayUSD, Tokens: limits.MaxDayTokens}
	if d.all == nil || d.max != most {
		of := d.now.Day
		d.all, d.max = runtime.NewDay(most, runtime.Spend{USD: d.now.USD, Tokens: d.now.Tokens}, func(s runtime.Spend) error { return d.record(of, s) }), most
	}
	return d.all
}

// record adds to what was spent in a day, and returns when that is durable. What a run spends
// that goes on over midnight counts in no other day.
func (d *day) record(of string, s runtime.Spend) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begin()
	if d.now.Day != of {
		return nil
	}
	next := d.now
	next.USD += s.USD
	next.Tokens += s.Tokens
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := d.disk.MkdirAll(filepath.Dir(d.name)); err != nil {
		return err
	}
	if err := disk.WriteFile(d.disk, d.name, data); err != nil {
		return err
	}
	d.now = next
	return nil
}
