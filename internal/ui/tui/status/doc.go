// Package status is what stands around the conversation: the header of the first screen,
// the status line, the line that says what is being done, what waits in the queues,
// background tasks, the todo list, what extensions show, and notices that go away.
//
// What has no state of its own is a function that draws it. What changes with time takes
// the time as an argument and says when it will look different, so that nothing ticks
// while nothing moves. The status line can come from a command of the user: [Input] is
// what it is given, [Scheduler] says when it runs, [Output] reads what it prints.
//
// The package does no I/O and starts nothing; its types belong to one goroutine.
package status
