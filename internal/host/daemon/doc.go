// Package daemon is the life cycle of a serving host: it takes the device's lock,
// listens, says in host.json where, and ends in order. It also finds the host of a
// device, starts one in the background, and keeps the token and the certificate.
//
// A host lives as long as it holds host.lock; neither its pid nor its socket nor
// host.json says so. What a host that died has left is replaced by the next one, and
// one that lives never is. Its functions may be called concurrently, also by
// several processes. It starts no process but the host itself, knows no client, and
// writes no secret but into host.header and host.key.
package daemon
