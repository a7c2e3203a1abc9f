// Package permission decides whether a tool call may run: by the mode, the rules
// of all layers, and for shell commands by what the line would start. Deny beats
// ask beats allow. It only judges: nothing here asks anybody or runs, reads or
// writes anything; a decision is a pure function of policy and action (and of
// what their Resolve says about paths). A [Policy] never changes and may
// be used concurrently.
//
// Rules are written as
//
//	Bash                          the whole tool, whatever it does
//	Bash(make test)               exactly this simple command
//	Bash(git status:*)            this command with any further arguments
//	Read(~/notes/**)              files; Write and Edit are one, Read is also Glob and Grep
//	Write(src/*.go)               relative to the workspace
//	WebFetch(domain:example.com)  a host; *.example.com for those below it
//	WebFetch(domain:localhost:3000)  a host and a port other than 80 and 443
//	mcp__server__tool             a tool of an MCP server; mcp__server for all of them
//	mcp__*                        all tools of all MCP servers; only to deny
//
// What a rule allows is read narrowly: literal words, no assignments,
// redirections only to where Write would be allowed, each simple command of a
// line by itself, nothing after sudo, env and the like. What a rule denies or
// asks is read widely. Still a rule that denies a command is advice and no wall: a
// program can do the same under another name. In a mode that asks for nothing a
// rule that asks still asks.
package permission
