// Package sandboxtest helps tests that need what the test binary's own process
// cannot give: above all, to run as an ordinary user. Only tests import it.
package sandboxtest
