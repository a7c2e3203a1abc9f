// Package loop is what goroutines beside the UI's own send to it.
//
// All components of the UI belong to one goroutine, that of Bubble Tea. A request to the
// host, a timer or a reader runs beside it, and what comes of that returns as a message:
// mostly a [Then], which the loop calls where it may touch the components. A goroutine
// that the UI starts defers [Rescue], so that a panic of it ends the program in order.
package loop
