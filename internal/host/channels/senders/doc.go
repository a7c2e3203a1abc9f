// Package senders keeps who may write through channels, in a file of the user's
// (~/.scorel/channels.json, mode 0600). A sender that nobody knows gets a code of six digits;
// a person who enters it on this machine has paired the sender. A pairing is for one entry of
// a server as it is written: another server of the same name has none.
//
// A [Store] may be used by any number of goroutines and processes at once: each change is made
// under the lock of the file, and each question reads it. Codes are in no error.
package senders
