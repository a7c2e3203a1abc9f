// Command screenshots makes the pictures of the terminal UI in docs/screens: it runs the
// built program on a pseudo-terminal with the demo model, as a new user would, and
// writes what is seen as SVG, on a dark and on a light background.
//
//	go run ./internal/dev/screenshots [-bin bin/scorel] [-out docs/screens]
//
// Home and project are made up, and what a clock decides is not in the pictures. It
// runs on Linux.
package main
