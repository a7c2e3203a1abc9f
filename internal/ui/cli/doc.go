// Package cli is the command line: it parses flags, talks to a host through the
// client, and renders what comes back. It opens no session file and holds no
// runtime; without a running host it starts one in its own process and speaks to
// it over the same connection.
//
// stdout holds results only, and with a JSON format nothing but JSON; everything
// else goes to stderr.
package cli
