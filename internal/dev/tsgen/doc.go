// Command tsgen writes the contract of the host protocol in other languages, from the Go
// package protocol, which is the only definition:
//
//	go run ./internal/dev/tsgen          writes all of it
//	go run ./internal/dev/tsgen -check   reports whether it is current
//
// It writes the TypeScript types of web/src/protocol, the table of requests and the checks
// of their fields in package protocol, there also the methods of events that their specs
// say, the switch over handlers in internal/engine/session/history, and for those who write clients of their own
// docs/protocol: a JSON Schema, an OpenAPI document and a reference in Markdown.
//
// It reads the source of the package (source.go, specs.go, values.go, checks.go): structs
// with their json and check tags, constants, what FrameName returns, the descriptors of
// requests, the specs of events with their displays (events.go), and the comments. Of these
// it makes one model (translate.go, model.go), which each writer reads. A field is optional where Go leaves it out
// (omitempty) and nullable where Go writes null (a nil pointer or slice). Messages,
// blocks, events, calls and replies have marshallers of their own; shapes.go says what
// these write, and a test holds it against what they do write, as it does for every other
// type. What strangers are told (contract.go, sending.go) has the requests as the host
// judges them; a test asks both. The package itself is not imported, so that the generator
// runs while something in there lacks what it makes. The same source gives the same bytes.
package main
