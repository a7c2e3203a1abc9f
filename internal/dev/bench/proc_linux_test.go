package main

import (
	"os"
	"testing"
)

func TestMemoryIsReadFromProc(t *testing.T) {
	m, err := readMemory(os.Getpid())
	if err != nil || m.Peak < 1e6 || m.Anonymous < 1e5 || m.PSS < 1e5 || m.Anonymous > m.Peak {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := kilobytes("VmPeak:\t 12 kB\n", "VmHWM"); err == nil {
		t.Error("a field that is not there was found")
	}
}
