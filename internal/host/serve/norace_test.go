//go:build !race

package serve

const (
	hugeText     = 900 << 10 // bytes of a field that is far too long: almost as many as a request may have
	everyVariant = 1         // each wrong request is sent
)
