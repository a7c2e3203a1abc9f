//go:build tools

// Package tools pins what the checks run with `go run`.
package tools

import _ "honnef.co/go/tools/cmd/staticcheck"
