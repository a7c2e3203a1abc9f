//go:build !race

package synctrial

// schedules is how many CI plays without the race detector.
const schedules = 10_000
