// Package mcpcmd has the commands of "scorel mcp" that read and write the configuration of MCP
// servers, sign in to servers and try them. None of them needs a host. What a program of the
// command line shares, they take from [Config].
//
// Values of variables, headers and answers are never printed. Its functions are called by one
// goroutine.
package mcpcmd
