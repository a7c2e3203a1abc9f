// Package httpx is what the adapters of all vendors share: the HTTP client with its
// bounds, the writing of a request's JSON and the reading of an answer's events, the
// mapping of every failure to a [model.Error] with one sentence for a person, and the
// loading of images and files.
//
// No text that it makes contains a key. Adapters use it, resolve, which makes them, and
// hook, which looks into what they send.
package httpx
