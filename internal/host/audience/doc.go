// Package audience is who is connected to a host: it tells all clients what concerns the
// device, and the others when a client comes or goes. What waits for one of them it holds
// in an [Outbox], which has a bound.
//
// Everything here may be used by any number of goroutines at once, and waits for nobody.
// It knows neither what a connection is nor what is in a session.
package audience
