package disk

// Mount is the file system that a path lies on.
type Mount struct {
	Type     string // "ext4", or a number where the name is not known
	Remote   bool   // another machine may write it, or keep it
	Volatile bool   // it is gone after the next start of the machine
	ReadOnly bool
	NoExec   bool // no program on it can be started
}
