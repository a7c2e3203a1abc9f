// Command typecheck reports whether the module compiles for a system on which it is not
// tested: `go run ./internal/dev/typecheck darwin/arm64`. It checks the types of our
// packages from source, and of what they import only the declarations, which takes
// seconds where `go build` compiles all of it for minutes. What only a back end or
// a linker would find is not found.
package main
