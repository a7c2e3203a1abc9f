//go:build !race

package serve

const (
	hugeText     = 260 << 10 // bytes of a field that is far too long
	everyVariant = 1         // each wrong request is sent
)
