//go:build !race

package extension

// greedy are the bombs that take memory.
func greedy() map[string]string {
	return map[string]string{
		"takes memory":  "const a: any[] = []; for (;;) a.push(new ArrayBuffer(4 * 1024 * 1024 * 1024));",
		"takes strings": `const a: any[] = []; for (let s = "x"; ; s += s) a.push(s + a.length);`,
	}
}
