//go:build race

package hosttest

// How much of something the tests make. The race detector makes what is done with each
// byte six times as long; the step "computed without the race detector" of
// scripts/test.sh makes the whole.
const (
	LongAnswer  = 5 << 20 // bytes that the model sends in what is to be kept whole
	EveryPair   = false   // of a vendor and a way to send the answer; else each vendor once
	LargeExport = 8       // events of 660 kB each
	LongName    = 50_000  // characters of each name in a log from elsewhere
	ManyCalls   = 198     // of one prompt
	EveryKill   = 7       // of the changes of the disk at which a host is killed
)
