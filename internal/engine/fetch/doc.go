// Package fetch fetches pages for a model and asks search services. What it
// guarantees: a connection is made only to an address that was judged, each time
// again and on the very address that is dialled, so that neither a name that
// changes its address nor a redirect leads into the networks around this
// machine; this machine itself is reached only where the caller's target names
// it. It keeps no cookies, sends no credentials and no Referer, reads no proxy
// from the environment, and bounds time, bytes and redirects. Errors name the
// host and a reason and nothing else of the URL. Texts that it gives are valid
// UTF-8 without control characters and without characters that nobody sees.
//
// It asks nobody for permission: the caller does, with [Target.Host] and
// [Target.Exact]. All types may be used by several goroutines at once.
package fetch
