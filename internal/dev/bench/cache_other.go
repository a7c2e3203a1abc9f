//go:build !linux

package main

// forget does nothing: only Linux counts such pages in full.
func forget(string) {}

// fileSystem is not known here.
func fileSystem(string) string { return "unknown" }
