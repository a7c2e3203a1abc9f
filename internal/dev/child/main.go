// Command child is what tests with the race detector start instead of themselves, where the program starts
// itself: as the stage of a confined command, and as the process in which extensions in
// JavaScript run. It is built without the detector (see scripts/test.sh).
package main

import (
	"fmt"
	"os"

	"scorel/internal/extension/js"
	"scorel/internal/extension/prelude"
	"scorel/internal/extension/rpc"
	_ "scorel/internal/platform/sandbox/stage" // takes over the process of a stage
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != rpc.ChildName {
		fmt.Fprintln(os.Stderr, "child: tests start this program; it does nothing by itself")
		os.Exit(2)
	}
	os.Exit(js.Main(os.Args[2:], "test", prelude.Scripts()))
}
