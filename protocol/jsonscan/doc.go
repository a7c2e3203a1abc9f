// Package jsonscan reads JSON without decoding it into values of its own: lines of logs and
// frames of connections are read by the thousand, and mostly a few members of each count.
//
// There are two ways. The walking functions (Object, Fields, Elements, Value) find where
// members begin and end; they check structure, that is balanced brackets and closed strings,
// and not every rule of JSON. A [Parser] reads values and checks them in full.
//
// Results are slices of what is read where that is possible. Nothing here keeps state but a
// [Memory]; all else may be called concurrently.
package jsonscan
