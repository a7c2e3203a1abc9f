package screen

// maxWaiting bounds the finished lines that wait for the terminal, in bytes. At the
// bound the oldest ones are left out, and a line says how many.
const maxWaiting = 32 << 20

// backlog is finished lines that wait.
type backlog struct {
	lines []string
	bytes int
	left  int // how many were left out before them
}

// add takes more lines, with so many left out before them.
func (b *backlog) add(lines []string, left int) {
	if left > 0 { // what was there is older
		b.left += left + len(b.lines)
		b.lines, b.bytes = nil, 0
	}
	if len(b.lines) == 0 {
		b.lines = lines[:len(lines):len(lines)] // append makes a copy
	} else {
		b.lines = append(b.lines, lines...)
	}
	for _, l := range lines {
		b.bytes += len(l) + 1
	}
	for b.bytes > maxWaiting && len(b.lines) > 0 {
		b.bytes -= len(b.lines[0]) + 1
		b.lines = b.lines[1:]
		b.left++
	}
}

// take returns all of it, and is empty then.
func (b *backlog) take() (lines []string, left int) {
	lines, left = b.lines, b.left
	*b = backlog{}
	return lines, left
}
