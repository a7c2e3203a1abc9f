//go:build !linux

package rpc

import "os"

// pageFile is a temporary file without a name.
func pageFile() (*os.File, error) {
	f, err := os.CreateTemp("", "scorel-page-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
