// Command scorel is a host for coding agents and its first client.
package main

import (
	"os"

	"scorel/internal/ui/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
