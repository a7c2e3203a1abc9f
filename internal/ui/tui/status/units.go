package status

import (
	"fmt"
	"strconv"
	"time"
)

// Elapsed returns a duration for people: 4s, 2m 5s, 1h 3m, 2d 4h. It is cut, not rounded.
func Elapsed(d time.Duration) string {
	s := max(0, int(d/time.Second))
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh %dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd %dh", s/86400, s/3600%24)
}

// Tokens returns a number of tokens: 950, 12.3k, 1.2M.
func Tokens(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 100_000:
		return strconv.FormatFloat(float64(n/100)/10, 'f', -1, 64) + "k"
	case n < 1_000_000:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.FormatFloat(float64(n/100_000)/10, 'f', -1, 64) + "M"
}

// Cost returns US dollars: $0.004 below a cent, else with two digits.
func Cost(usd float64) string {
	if usd < 0.01 {
		return fmt.Sprintf("$%.3f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
