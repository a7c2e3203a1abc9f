// Package conformance is one suite for the adapters of all vendors: what each must do
// whatever its wire format is. An adapter's own tests hold what is particular of its
// format. It is apart from modeltest because it links test libraries.
package conformance
