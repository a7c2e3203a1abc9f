// Command bench measures Scorel as a user meets it: the real binary as whole
// processes, against a model server on loopback that is a process of its own, and
// the parts of the engine that promise a rate. It prints our figures beside the
// goals and beside what other agents took on such a machine, and writes them to
// bench.json.
//
//	go run ./internal/dev/bench [-n N] [-only REGEXP]   all figures, or those that match
//	go run ./internal/dev/bench mock                    the model server alone
//	go run ./internal/dev/bench session                 writes a session of a given length
//	go run ./internal/dev/bench listen                  many clients of a serving host
//	go run ./internal/dev/bench appends                 durable appends of many sessions
//	go run ./internal/dev/bench context                 the context of a long path
//	go run ./internal/dev/bench mcpserver               an MCP server on stdin
//	go run ./internal/dev/bench mcpidle                 what idle MCP servers cost
//
// What a serving host takes is measured from outside: the clients are in a process of
// their own, and the model stamps what it says with the time.
//
// Sessions and in-process figures are made in children of their own, because the
// memory that the kernel reports for a child begins with that of its parent.
// Nothing outside a temporary folder is written but the JSON file.
package main
