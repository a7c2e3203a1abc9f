// Package webpush wakes browsers whose page is closed when a session begins to wait for a
// person: it asks the push service of the browser (RFC 8030) to do so, under a key of the
// host (RFC 8292). The request has no body, so that the push service learns that something
// waits and when, where the page is from and the network address of the host, and nothing
// else.
//
// A subscription belongs to a client on the list of package clients and ends with its entry.
// Subscriptions are kept in ~/.scorel/push.json, the key in ~/.scorel/push-key.json; both
// have mode 0600. An address is in no log and no error: who has it and the key can push.
//
// All may be used by any number of goroutines at once. What changes a session waits for
// nobody here: pushes are sent by goroutines of their own, which [Pushes.Close] ends.
package webpush
