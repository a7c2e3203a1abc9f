// Package export writes a session as one HTML page for people to read, keep,
// print and pass on.
//
// The page is alone: it has no script, loads nothing and says so to the
// browser in a content security policy. Whatever a session holds, text of
// strangers and of models included, comes out as text: Markdown, which
// package text/markdown reads, becomes a fixed set of tags, raw HTML is shown as written, links lead
// only to http, https and mailto and show where, and payloads become pictures
// only when their bytes are PNG, JPEG, GIF or WebP.
//
// A page is written as its events are read: memory grows with the number of
// events and not with their bytes. The package reads no files and knows no
// sessions; it may be used by any number of goroutines at once.
package export
