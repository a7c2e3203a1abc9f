package failure

// Acted is the error of a request that had effects before it failed: its repeat
// fails in the same way, and acts no more.
type Acted struct{ Err error }

func (e *Acted) Error() string { return e.Err.Error() }

func (e *Acted) Unwrap() error { return e.Err }
