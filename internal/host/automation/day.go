package automation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

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
	now spent
}

// spent is what the file holds.
type spent struct {
	Day    string  `json:"day"` // 2006-01-02
	USD    float64 `json:"usd"`
	Tokens int64   `json:"tokens"`
}

// openDay reads the file of a folder. A damaged one counts as none: it says nothing that a
// person has written.
func openDay(fsys disk.FS, dir string, clock schedule.Clock) (*day, error) {
	d := &day{disk: fsys, name: filepath.Join(dir, "day.json"), clock: clock}
	data, err := disk.ReadFile(fsys, d.name, maxDayFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(data) > 0 && json.Unmarshal(data, &d.now) != nil {
		return d, fmt.Errorf("%s is damaged; what runs have spent today is counted from now on", d.name)
	}
	return d, nil
}

// today begins a new day, when one has begun. mu is held.
func (d *day) today() {
	if day := d.clock.Now().In(d.clock.Zone()).Format("2006-01-02"); d.now.Day < day { // a clock that goes back begins none
		d.now = spent{Day: day}
	}
}

// spent returns what was spent today.
func (d *day) spent() (usd float64, tokens int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.today()
	return d.now.USD, d.now.Tokens
}

// spend adds to what was spent today, and returns when that is durable.
func (d *day) spend(usd float64, tokens int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.today()
	d.now.USD += usd
	d.now.Tokens += tokens
	data, err := json.Marshal(d.now)
	if err != nil {
		return err
	}
	if err := d.disk.MkdirAll(filepath.Dir(d.name)); err != nil {
		return err
	}
	return disk.WriteFile(d.disk, d.name, data)
}
