//go:build race

package serve

// The race detector makes what is done with each byte six times as long; the step "computed
// without the race detector" of scripts/test.sh sends each wrong request, and longer ones.
const (
	hugeText     = 101 << 10 // bytes of a field that is too long: more than a text of one line may have
	everyVariant = 4         // of the wrong requests one is sent
)
