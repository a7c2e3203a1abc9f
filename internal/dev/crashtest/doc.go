// Package crashtest kills Scorel with SIGKILL at random moments and looks at what
// is left on the disk. The checker ([ReadLog], [Log.Holds], [Pairs]) reads the
// files as anybody could, with encoding/json, and imports nothing of Scorel, so
// that a mistake in the code that writes logs cannot hide in the code that
// judges them. The rounds themselves are tests.
package crashtest
