package cli

import (
	"archive/zip"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// zipFolder is the command "zip FILE DIR" of scripts: it writes what is in a folder to a file.
func zipFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: zip FILE DIR")
	}
	out, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer out.Close()
	z := zip.NewWriter(out)
	ts.Check(z.AddFS(os.DirFS(ts.MkAbs(args[1]))))
	ts.Check(z.Close())
}
