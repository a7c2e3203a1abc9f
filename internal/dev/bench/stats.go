package main

import "slices"

// series is what was measured of one figure, in the order of measurement.
type series []float64

// median is the middle value, of an even number the mean of the two; 0 of none.
func (s series) median() float64 {
	if len(s) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(s))
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// quantile is the smallest value that a share q (0 to 1) of all does not exceed;
// 0 of none.
func (s series) quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(s))
	i := int(q * float64(len(v)))
	return v[min(max(i, 0), len(v)-1)]
}

func (s series) min() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Min(s)
}

func (s series) max() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Max(s)
}
