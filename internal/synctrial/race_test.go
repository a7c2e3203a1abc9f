//go:build race

package synctrial

// schedules is how many CI plays with the race detector.
const schedules = 1_500
