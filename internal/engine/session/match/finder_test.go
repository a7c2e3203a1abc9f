package match

import (
	"bytes"
	"testing"
)

// BenchmarkFinder looks for words through lines as logs have them.
func BenchmarkFinder(b *testing.B) {
	line := []byte(`{"type":"message","id":"evt_0f3k2m9s1d8v7a6t","parentId":"evt_9d8v7a6t0f3k2m9s","seq":4711,"sessionId":"ses_06f3k2m9s1d8v7a6t0f3k2m9s1","clientId":"host","ts":1800000004711,"message":{"role":"tool_result","toolCallId":"call_12","toolName":"Read","content":[{"type":"text","text":"  472\tif err := read(\"name\"); err != nil {\n\t\treturn err\n\t}\n The function in line 12 returns before the file is closed.\n"}],"isError":false}}` + "\n")
	data := bytes.Repeat(line, 1<<20/len(line))
	for _, word := range []string{"restoration", "seen", "quetzal", "überall", "日本"} {
		for _, anyCase := range []bool{true, false} {
			name := word
			if !anyCase {
				name += " exact"
			}
			b.Run(name, func(b *testing.B) {
				f := newFinder(word, anyCase)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					if f.in(data) {
						b.Fatal("it stands there")
					}
				}
			})
		}
	}
}
