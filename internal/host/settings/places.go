package settings

import (
	"os"

	"scorel/internal/engine/discovery"
)

// Places returns where skills or commands of a session stand, those that count most
// first. Warning says why nothing of the project is looked at, "" when it is.
func (st *Settings) Places(kind, dir, root string, others ...string) (list []discovery.Place, warning string) {
	return discovery.Find(discovery.Config{WorkDir: dir, Root: root, Home: st.UserHome, Dir: st.Dir, UID: os.Getuid()}, kind, others...)
}
