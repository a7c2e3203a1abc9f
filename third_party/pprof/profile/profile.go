// Package profile stands in for github.com/google/pprof/profile, which goja imports for
// a profiler of JavaScript that Scorel never starts. The real package compiles fifteen
// regular expressions at init, which every start of the binary would pay for: 1,167
// allocations and 0.2 ms. It has the types that goja fills, and cannot write a profile.
package profile

import (
	"errors"
	"io"
)

// Profile and the others have the fields that goja sets.
type Profile struct {
	SampleType []*ValueType
	Sample     []*Sample
	Mapping    []*Mapping
	Location   []*Location
	Function   []*Function
	PeriodType *ValueType
	Period     int64
}

// ValueType is what a value of a sample counts.
type ValueType struct{ Type, Unit string }

// Sample is one stack.
type Sample struct {
	Location []*Location
	Value    []int64
}

// Mapping is a program.
type Mapping struct {
	ID   uint64
	File string
}

// Location is a place in a program.
type Location struct {
	ID      uint64
	Mapping *Mapping
	Line    []Line
}

// Line is a line of a function.
type Line struct {
	Function *Function
	Line     int64
}

// Function is a function.
type Function struct {
	ID             uint64
	Name, Filename string
}

// Write fails: nothing here profiles.
func (*Profile) Write(io.Writer) error {
	return errors.New("profiles of extensions cannot be written")
}
