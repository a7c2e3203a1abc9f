// Package bundle packs the file of an import as it is sent to a host: a bundle as it is, a
// log with its payloads. It reads files that anybody may have made, follows no link out of
// the folder of payloads, and writes nothing but its output.
package bundle
