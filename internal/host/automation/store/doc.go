// Package store keeps the schedules of a host and their runs in one file, and knows what may
// follow what: a schedule has one run at most that has not ended, a run that has ended stays
// as it is, and of ended runs only the newest are kept. It starts nothing and knows no time
// but what it is told.
//
// Each change is durable before it is seen. Two processes may use one file: a change is made
// to what the file holds then.
package store
