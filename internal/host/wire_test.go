package host_test

import (
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// news waits for the next frame of a type that fits. Others are passed over.
func news[F protocol.Frame](c *hosttest.Wire, fits func(F) bool) F {
	c.W.T.Helper()
	for {
		if f, ok := c.Frame().(F); ok && fits(f) {
			return f
		}
	}
}
