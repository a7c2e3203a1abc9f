// Package web is the page that the host serves to browsers, as it was built from src/app into
// dist: the document index.html, in which the host fills in {{nonce}} and {{version}}, and what it
// loads, packed with gzip under its name and ".gz". Fonts are not packed again.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Page returns the files of the page.
func Page() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}
