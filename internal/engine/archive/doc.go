// Package archive is the file in which a session travels with its payloads: a tar
// archive, compressed by gzip, that holds session.jsonl (RFC 8259 lines as a log
// has them) and after it blobs/<sha256> for each payload.
//
// A [Reader] takes bytes that anybody may have made: it knows no other names and
// no links or folders, so that no path leads anywhere, and it ends at the bounds
// of this package whatever the archive says of itself. It does not look into the
// session and does not check the hashes of payloads; who stores them does.
//
// Readers and Writers are for one goroutine each.
package archive
