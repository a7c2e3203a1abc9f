package transcript

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func benchmarkAnswer(b *testing.B, text string, look func(tr *Transcript)) {
	text = strings.Repeat(text, 200<<10/len(text)+1)[:200<<10]
	b.ReportAllocs()
	for b.Loop() {
		tr := filled(long(100))
		look(tr)
		live := protocol.Live{Messages: []protocol.LiveMessage{{EventID: "evt_live", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText}}}}}
		blk := &live.Messages[0].Blocks[0]
		for at := 0; at < len(text); at += 20 {
			blk.Text = append(blk.Text, text[at:min(at+20, len(text))]...)
			tr.Live(&live)
			look(tr)
		}
	}
}

const someAnswer = "## Part\n\nThe function `parse` reads **all** of the *input* and goes on in a second sentence that makes the paragraph longer than a line.\n\n- first item with some words\n- second item\n\n```go\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n```\n\n"

func BenchmarkInlineAnswerOf200KBIn10000Pieces(b *testing.B) {
	th := plainTheme(b)
	benchmarkAnswer(b, someAnswer, func(tr *Transcript) { tr.Commit(th, 100); tr.Region(th, 100, 20) })
}

func BenchmarkScreenAnswerOf200KBIn10000Pieces(b *testing.B) {
	th := plainTheme(b)
	benchmarkAnswer(b, someAnswer, func(tr *Transcript) { tr.View(th, 100, 40) })
}

func BenchmarkOpening10000Messages(b *testing.B) {
	th := plainTheme(b)
	l := long(10_000)
	b.ReportAllocs()
	for b.Loop() {
		filled(l).View(th, 100, 40)
	}
}

func BenchmarkSearchIn10000Messages(b *testing.B) {
	tr := filled(long(10_000))
	for b.Loop() {
		tr.Find("nowhere")
	}
}
