// Package pairing has the codes with which clients come in that the host does not know
// yet. A code is worth one client, for a minute of the host's clock: it is gone once
// it is redeemed, at the first wrong proof, and when it is cancelled. Codes are in
// memory only, and are never told to anybody but who asked for them.
//
// Who redeems a code gets on the list of package clients. Over the network it waits there
// until a person confirms it.
//
// All may be used by any number of goroutines at once. Nothing is called with the lock
// held.
package pairing
