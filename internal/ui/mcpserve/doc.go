// Package mcpserve is Scorel as an MCP server: tools for sessions, conversations as
// resources, templates as prompts and, where that is asked for, Scorel's built-in tools.
// It is a client of a host and knows neither sessions nor runtimes nor tools.
//
// What it guarantees:
//
//   - A program that uses it can do no more than a client of the host: folders are judged by
//     the host, turns run under the permission mode and the rules of their sessions, and a
//     question is allowed once or not at all. What a call of a built-in tool would have to
//     ask about is denied.
//   - Texts of sessions are cleaned of control and hidden characters, and bounded. They are
//     the words of a model, and of whatever it has read.
//   - Nothing but frames of the protocol goes to stdout. Tokens are in no output, error,
//     address or argument.
//   - To cancel a call of session_wait ends the waiting; the turn runs on.
//
// A [Server] may be used by any number of goroutines at once. The goroutines that it starts
// have ended when [Server.Close] returns.
package mcpserve
