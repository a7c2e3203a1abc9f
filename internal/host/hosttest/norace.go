//go:build !race

package hosttest

// How much of something the tests make.
const (
	LongAnswer  = 10 << 20 // bytes that the model sends in what is to be kept whole
	EveryPair   = true     // of a vendor and a way to send the answer; else each vendor once
	LargeExport = 52       // events of 660 kB each: more than one part
	LongName    = 500_000  // characters of each name in a log from elsewhere
	ManyCalls   = 300      // of one prompt
	EveryKill   = 1
)
