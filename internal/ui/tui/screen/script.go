package screen

// op is what happens to lines of the region.
type op int

const (
	same op = iota
	replace
	insert
	remove
)

// step is an op on so many lines in a row.
type step struct {
	op op
	n  int
}

// maxTable bounds the pairs of lines that are compared to find which lines have moved;
// beyond, each line becomes the one at its place.
const maxTable = 1 << 16

// What moving costs, in bytes: the way there and the sequence. A line that would cost
// less to write stays where it is.
const moving = 12

// script returns the steps with the fewest bytes that make the new lines of the old.
func script(old []line, lines []string) []step {
	head := 0
	for head < len(old) && head < len(lines) && old[head].raw == lines[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(lines)-head && old[len(old)-1-tail].raw == lines[len(lines)-1-tail] {
		tail++
	}
	var steps steps
	steps.add(same, head)
	a, b := old[head:len(old)-tail], lines[head:len(lines)-tail]
	switch {
	case len(a) == 0 || len(b) == 0 || len(a)*len(b) > maxTable:
		steps.add(replace, min(len(a), len(b)))
		steps.add(remove, len(a)-min(len(a), len(b)))
		steps.add(insert, len(b)-min(len(a), len(b)))
	case len(a) == 1 && len(b) == 1:
		steps.add(replace, 1)
	default:
		steps.table(a, b)
	}
	steps.add(same, tail)
	return steps
}

type steps []step

func (s *steps) add(o op, n int) {
	if n <= 0 {
		return
	}
	if l := len(*s); l > 0 && (*s)[l-1].op == o {
		(*s)[l-1].n += n
		return
	}
	*s = append(*s, step{o, n})
}

// table finds the steps by what each way from the beginnings to the ends costs.
func (s *steps) table(a []line, b []string) {
	w := len(b) + 1
	cost := make([]int32, (len(a)+1)*w) // to the end, from i and j
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			if i == len(a) && j == len(b) {
				continue
			}
			best := int32(1 << 30)
			if i < len(a) && j < len(b) {
				best = cost[(i+1)*w+j+1] + turn(a[i].raw, b[j])
			}
			if i < len(a) {
				best = min(best, cost[(i+1)*w+j]+moving)
			}
			if j < len(b) {
				best = min(best, cost[i*w+j+1]+moving+int32(len(b[j])))
			}
			cost[i*w+j] = best
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		now := cost[i*w+j]
		switch {
		case i < len(a) && j < len(b) && now == cost[(i+1)*w+j+1]+turn(a[i].raw, b[j]):
			if a[i].raw == b[j] {
				s.add(same, 1)
			} else {
				s.add(replace, 1)
			}
			i, j = i+1, j+1
		case i < len(a) && now == cost[(i+1)*w+j]+moving:
			s.add(remove, 1)
			i++
		default:
			s.add(insert, 1)
			j++
		}
	}
}

// turn estimates what it costs to make one line of another.
func turn(from, to string) int32 {
	if from == to {
		return 0
	}
	n := 0
	for n < len(from) && n < len(to) && from[n] == to[n] {
		n++
	}
	return int32(len(to)-n) + moving/2
}
