// Package oauth signs in to MCP servers that are reached over HTTP, as the authorisation
// part of the protocol says (2025-11-25; OAuth 2.1, RFC 7591, 7636, 8414, 8707, 9207,
// 9728): it finds the authorisation server, registers a client there where none is
// configured, makes the address at which a person agrees, and exchanges what comes back
// for tokens. [Session] gives the tokens to a connection and renews them.
//
// It opens no listener and no browser; who uses it does. What servers name is reached
// through the judge of package fetch, so that nobody leads a sign-in into a private network.
// Tokens are in no error.
package oauth
