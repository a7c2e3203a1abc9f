package permission

// MaxAlternatives is how many patterns the braces of one may stand for. They are
// tried one by one: sixty bytes of braces can stand for more than can be tried.
const MaxAlternatives = 1000

// Alternatives returns how many patterns a pattern with braces stands for, at most
// one more than [MaxAlternatives]. Braces in others count as if they stood beside
// them, which is never too few.
func Alternatives(pattern string) int {
	total := 1
	var open []int // the alternatives of the braces around
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 1)
		case ',':
			if n := len(open); n > 0 {
				open[n-1]++
			}
		case '}':
			if n := len(open); n > 0 {
				total = min(total*open[n-1], MaxAlternatives+1)
				open = open[:n-1]
			}
		}
	}
	return total
}
