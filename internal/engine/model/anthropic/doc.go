// Package anthropic speaks Anthropic's Messages API
// (https://platform.claude.com/docs/en/api/messages) over net/http, to Anthropic and to
// any server with the same wire format.
//
// The request is a function of the [model.Request]: same input, same bytes. Of
// two successive requests of a conversation the second begins with the messages
// of the first; only cache marks move.
package anthropic
