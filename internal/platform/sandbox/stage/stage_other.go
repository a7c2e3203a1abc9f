//go:build !linux

package stage

import (
	"fmt"
	"os"
)

func init() {
	if len(os.Args) >= 2 && os.Args[1] == Name {
		fmt.Fprintln(os.Stderr, "scorel: "+Name+" is how Scorel starts a confined command on Linux and does nothing by itself; see scorel --help")
		os.Exit(2)
	}
}
