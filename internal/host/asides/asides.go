package asides

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/platform/disk"
)

// folders are those below the user's Scorel folder in which files are set aside.
var folders = []string{"", "automation", "memory", "tui"}

// Bounds of what is said, and of the file that records it.
const (
	maxNames    = 100
	maxToldFile = 64 << 10 // bytes
)

// toldFile records which files a person was told of, a name per line.
const toldFile = "damaged.told"

// lost says what is lost with a file, by its name below the folder; "" is the rest.
var lost = map[string]string{
	filepath.Join("automation", "state.json"): "The file of schedules was damaged. It is kept as %s; the schedules that it had do nothing until you add them again.",
	filepath.Join("automation", "day.json"):   "The file of what scheduled runs have spent today was damaged. It is kept as %s; the limits of the day count from then on.",
	filepath.Join("memory", "requests.json"):  "The record of which requests have added notes was damaged. It is kept as %s; a client that repeats one of them may add its note twice.",
	"projects.json":                           "The list of projects was damaged. It is kept as %s; projects are listed again, and their heartbeats go on, as they are used, and a folder that you allowed as a workspace though it is wide is asked for again.",
	"trust.json":                              "The list of trusted folders was damaged. It is kept as %s; look at your projects again with scorel trust.",
}

// Aside is a file that was set aside.
type Aside struct {
	Name string // below the user's Scorel folder
	Text string // a sentence for people, with the whole path
}

// Find returns the files that are set aside below dir, the user's Scorel folder, by name: at
// most 100. A folder that cannot be read has none.
func Find(fsys disk.FS, dir string) (list []Aside) {
	for _, folder := range folders {
		entries, err := fsys.ReadDir(filepath.Join(dir, folder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !disk.IsAside(e.Name()) || e.IsDir() || len(list) == maxNames {
				continue
			}
			name := filepath.Join(folder, e.Name())
			list = append(list, Aside{name, text(dir, name)})
		}
	}
	return list
}

// Of returns what is said of one file, by its name below dir: a sentence about the newest that
// was set aside, and how many are older. It is empty where there is none.
func Of(fsys disk.FS, dir, name string) (texts []string) {
	n := 0
	for _, a := range Find(fsys, dir) {
		if strings.HasPrefix(a.Name, name+disk.AsideMark) {
			texts, n = []string{a.Text}, n+1
		}
	}
	if n > 1 {
		texts[0] += fmt.Sprintf(" Beside it are %d that were damaged before.", n-1)
	}
	return texts
}

func text(dir, name string) string {
	was, _, _ := strings.Cut(name, disk.AsideMark)
	format, full := lost[was], filepath.Join(dir, name)
	switch {
	case format != "":
		return fmt.Sprintf(format, full)
	case filepath.Dir(was) == "tui":
		return fmt.Sprintf("The text that was in the editor of a terminal UI that ended by itself was damaged. What is left of it is kept as %s.", full)
	}
	return fmt.Sprintf("The file %s was damaged. It is kept as %s.", filepath.Join(dir, was), full)
}

// Untold returns the sentences about files that no person was told of yet, and records that
// they are told now. Where that cannot be recorded they are told again.
func Untold(fsys disk.FS, dir string) (texts []string) {
	list := Find(fsys, dir)
	if len(list) == 0 {
		return nil
	}
	record := filepath.Join(dir, toldFile)
	if data, err := disk.ReadFile(fsys, record, maxToldFile); err == nil && len(untold(list, data)) == 0 {
		return nil
	}
	_ = disk.Update(fsys, record, maxToldFile, func(old []byte) ([]byte, error) {
		texts = untold(list, old)
		var names []string
		for _, a := range list { // what has gone leaves the record
			names = append(names, a.Name)
		}
		return []byte(strings.Join(names, "\n") + "\n"), nil
	})
	if texts == nil {
		texts = untold(list, nil)
	}
	return texts
}

// untold returns the sentences of those that a record does not name.
func untold(list []Aside, record []byte) (texts []string) {
	told := strings.Split(string(record), "\n")
	for _, a := range list {
		if !slices.Contains(told, a.Name) {
			texts = append(texts, a.Text)
		}
	}
	return texts
}
