// Command tsgen writes the TypeScript types of the host protocol from the Go
// package protocol, which is the only definition:
//
//	go run ./internal/tsgen          writes web/src/protocol
//	go run ./internal/tsgen -check   says whether it is current
//
// It reads the source of the package: structs with their json tags, the constants
// of string types, what EventType, RequestName and FrameName return, the pairs of
// newRequest, and the comments. A field is optional where Go leaves it out
// (omitempty) and nullable where Go writes null (a nil pointer or slice). Messages,
// blocks, events, calls and replies have marshallers of their own; shapes.go says
// what these write, and a test holds it against what they do write, as it does for
// every other type. The same source gives the same bytes.
package main
