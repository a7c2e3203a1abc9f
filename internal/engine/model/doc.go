// Package model is the one form in which Scorel talks to language models: a
// request of messages and tools goes in, a stream of deltas comes out. The
// sub-packages speak the vendors' wire formats or play recorded answers; all of
// them satisfy [Model] and look for the end event, because a stream that was cut may
// end without an error.
//
// Adapters: anthropic, google, openai, responses, all over wire; script plays files.
// resolve finds the model that a user names, in catalog and configuration.
// modeltest is the vendors' servers without the vendors.
//
// Messages of assistants name their maker by Provider and Model, which are those
// of [Info]; [Fit] decides by them whose thinking goes back to whom.
//
// A Model may be used by any number of goroutines at once. Nothing here retries:
// the one retry policy is the runtime's. (responses sends a request once more without
// what the server refuses to the account.)
package model
