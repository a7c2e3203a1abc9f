//go:build !race

package host_test

// How much of something the tests make.
const (
	longAnswer  = 10 << 20 // bytes that the model sends in what is to be kept whole
	everyPair   = true     // of a vendor and a way to send the answer; else each vendor once
	largeExport = 52       // events of 660 kB each: more than one part
	longName    = 500_000  // characters of each name in a log from elsewhere
	manyCalls   = 300      // of one prompt
)
