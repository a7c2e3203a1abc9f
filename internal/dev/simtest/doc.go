// Package simtest tries what a host promises its clients, on schedules that a
// seed decides: clients that connect, are cut off at any byte, read slowly, join in
// mid-turn, send and send again, while turns run, the disk fails and the host is
// killed, repaired and started again. [Play] runs one schedule and says what did not
// hold.
//
// Everything is real but for the model, the network and the disk: host, servers and
// client library are those of the binary. A schedule belongs into a bubble of
// testing/synctest; nothing of it outlives Play. The same seed makes the same
// decisions, though the goroutines of two runs may meet in another order.
package simtest
