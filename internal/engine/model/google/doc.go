// Package google speaks Google's Gemini API
// (https://ai.google.dev/api/generate-content) over net/http, to Google and to any
// server with the same wire format.
//
// The request is a function of the [model.Request]: same input, same bytes. Of
// two successive requests of a conversation the second begins with the contents of
// the first, which is what the vendor's own caching looks at.
//
// Thought signatures go back on the parts that carried them, and only to the model
// that made them.
package google
