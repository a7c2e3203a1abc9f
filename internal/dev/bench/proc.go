package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memory is what the kernel says of a process, in bytes.
type memory struct {
	Peak      float64 // VmHWM: the most resident memory so far
	Resident  float64 // VmRSS: now
	PSS       float64 // resident memory, shared pages counted by their share
	Anonymous float64 // what belongs to no file
}

// readMemory reads /proc of a process that still runs.
func readMemory(pid int) (memory, error) {
	var m memory
	for _, want := range []struct {
		file, field string
		to          *float64
	}{
		{"status", "VmHWM", &m.Peak}, {"status", "VmRSS", &m.Resident}, {"smaps_rollup", "Pss", &m.PSS}, {"smaps_rollup", "Anonymous", &m.Anonymous},
	} {
		name := fmt.Sprintf("/proc/%d/%s", pid, want.file)
		data, err := os.ReadFile(name)
		if err != nil {
			return memory{}, err
		}
		if *want.to, err = kilobytes(string(data), want.field); err != nil {
			return memory{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return m, nil
}

// resident is the Resident of readMemory alone, which takes the process no time.
func resident(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return kilobytes(string(data), "VmRSS")
}

// kilobytes finds a line "field: N kB" and gives it in bytes.
func kilobytes(text, field string) (float64, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, field+":")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", field, err)
		}
		return float64(n) * 1024, nil
	}
	return 0, fmt.Errorf("there is no %s", field)
}
