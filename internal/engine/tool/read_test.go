package tool

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

func TestReadShowsNumberedLines(t *testing.T) {
	for _, c := range []struct {
		name, content, want string
		whole               bool
	}{
		{"lines", "one\n\n\tthree\n", "     1\tone\n     2\t\n     3\t\tthree", true},
		{"no last line feed", "one\ntwo", "     1\tone\n     2\ttwo", true},
		{"mark is not shown", bom + "one\n", "     1\tone", true},
		{"CRLF", "one\r\ntwo\r\n", "     1\tone\n     2\ttwo\n[Line endings are CRLF; Edit and Write keep them.]", true},
		{"invalid bytes", "a\xffb\n", "     1\ta\uFFFDb\n[Bytes that are not valid UTF-8 are shown as \uFFFD.]", false},
		{"UTF-16 little", "\xff\xfea\x00\n\x00\x3d\xd8\x00\xde", "     1\ta\n     2\t😀\n[The file is UTF-16.]", false},
		{"UTF-16 big", "\xfe\xff\x00a\x00\n", "     1\ta\n[The file is UTF-16.]", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			path := b.write("f", c.content)
			text, r := b.run("Read", in{"path": "f"})
			if text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
			want := protocol.FileState{Path: path, SHA256: files.Sum([]byte(c.content)), Whole: c.whole}
			if d := r.Details.(protocol.ToolDetails); len(d.Files) != 1 || d.Files[0] != want {
				t.Errorf("details are %+v", d)
			}
			if got, _ := b.env.Seen.Lookup(path); got != want {
				t.Errorf("seen is %+v", got)
			}
		})
	}
}

func TestReadOfAnEmptyFileSaysSo(t *testing.T) {
	b := newBench(t)
	b.write("f", "")
	if text := b.ok("Read", in{"path": "f"}); !strings.Contains(text, "is empty") {
		t.Error(text)
	}
	b.ok("Write", in{"path": "f", "content": "x"})
}

func TestReadPagesALongFileOnWholeLines(t *testing.T) {
	b := newBench(t)
	var content strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&content, "this is line number %d\n", i)
	}
	b.write("f", content.String())
	next := regexp.MustCompile(`\[Lines (\d+) to (\d+) of 5000\. Go on with offset (\d+)\.\]$`)
	seen := 0
	for offset := 1; ; {
		text, r := b.run("Read", in{"path": "f", "offset": offset})
		if got := tokens([]byte(text)); got > pageTokens+50 {
			t.Fatalf("a page has %d tokens", got)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if n, rest, ok := strings.Cut(line, "\t"); ok {
				seen++
				if strings.TrimSpace(n) != strconv.Itoa(seen) || rest != fmt.Sprintf("this is line number %d", seen) {
					t.Fatalf("line %d is %q", seen, line)
				}
			}
		}
		if r.Details.(protocol.ToolDetails).Files[0].Whole {
			t.Fatal("a page is taken for the whole")
		}
		m := next.FindStringSubmatch(text)
		if m == nil {
			break
		}
		offset, _ = strconv.Atoi(m[3])
		if offset != seen+1 {
			t.Fatalf("after line %d: %s", seen, m[0])
		}
	}
	if seen != 5000 {
		t.Errorf("%d lines were shown", seen)
	}
	b.ok("Write", in{"path": "f", "content": content.String()}) // page by page it has seen all
	full := b.ok("Read", in{"path": "f", "full": true})
	if got := tokens([]byte(full)); got < 5*pageTokens || got > b.env.Window/10+50 {
		t.Errorf("full gives %d tokens", got)
	}
	if text := b.ok("Read", in{"path": "f", "offset": 10, "limit": 2}); text != "    10\tthis is line number 10\n    11\tthis is line number 11\n[Lines 10 to 11 of 5000. Go on with offset 12.]" {
		t.Error(text)
	}
	b.fails("Read", in{"path": "f", "offset": 6000}, "5000 lines", "behind its end")
}

func TestReadCutsLongLinesAtACharacter(t *testing.T) {
	b := newBench(t)
	b.write("f", strings.Repeat("é", 200_000)+"\nnext\n")
	text, r := b.run("Read", in{"path": "f"})
	if !strings.Contains(text, "more bytes of this line]\n     2\tnext") || !utf8.ValidString(text) || len(text) > 3000 {
		t.Errorf("%d bytes: %q", len(text), text[max(0, len(text)-200):])
	}
	if d := r.Details.(protocol.ToolDetails); d.Files[0].Whole || strings.Contains(text, "\uFFFD") {
		t.Errorf("details are %+v", d)
	}
}

func TestReadOfAHugeFileIsBounded(t *testing.T) {
	b := newBench(t)
	path := b.write("f", strings.Repeat("line\n", 10_000))
	if err := os.Truncate(path, 1<<33); err != nil { // sparse
		t.Fatal(err)
	}
	text, r := b.run("Read", in{"path": "f", "limit": 3})
	if r.IsError || !strings.Contains(text, "too long to count or edit") || r.Details != nil {
		t.Errorf("%s %+v", text, r.Details)
	}
	b.env.Seen.Note(protocol.FileState{Path: path, SHA256: "x", Whole: true})
	b.fails("Edit", edits("f", "line", "x"), "cannot be changed with this tool")
}

func TestReadRefusesBinaryFilesWithTheirType(t *testing.T) {
	b := newBench(t)
	for content, kind := range map[string]string{"\x7fELF\x00\x01": "ELF", "PK\x03\x04\x00": "ZIP", "a\x00b": "unknown type"} {
		b.write("f", content)
		b.fails("Read", in{"path": "f"}, "binary file", kind)
	}
}

func TestReadPagesStoredResults(t *testing.T) {
	b := newBench(t)
	text := b.ok("Read", in{"path": "result:c1", "full": true})
	if strings.Count(text, "é") != 3000 || !strings.HasSuffix(text, "last") {
		t.Errorf("it is not whole: %d, %q", strings.Count(text, "é"), text[len(text)-20:])
	}
	b.fails("Read", in{"path": "result:nope"}, "no call")
	p, err := b.prepare("Read", in{"path": "result:c1"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if a := p.Action(); len(a.Paths) > 0 || a.Kind != "state" {
		t.Errorf("the action is %+v", a)
	}
}

func TestReadStopsWithItsContext(t *testing.T) {
	b := newBench(t)
	b.write("f", strings.Repeat("x\n", 100_000))
	p, err := b.prepare("Read", in{"path": "f"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, nil); err == nil {
		t.Error("it went on")
	}
}

func picture(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x), uint8(y), uint8(x ^ y), 255})
		}
	}
	return img
}

func encoded(t *testing.T, media string, img image.Image) string {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch media {
	case "image/png":
		err = png.Encode(&out, img)
	case "image/jpeg":
		err = jpeg.Encode(&out, img, nil)
	default:
		err = gif.Encode(&out, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReadShowsImagesAndPDFsAsBlocks(t *testing.T) {
	small := picture(20, 10)
	webp := "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x13\x00\x00\x09\x00\x00"
	pdf := "%PDF-1.4\n%%EOF\n"
	for _, c := range []struct {
		name, content, media string
		kind                 protocol.BlockType
	}{
		{"a.png", encoded(t, "image/png", small), "image/png", protocol.BlockImage},
		{"a.jpg", encoded(t, "image/jpeg", small), "image/jpeg", protocol.BlockImage},
		{"a.gif", encoded(t, "image/gif", small), "image/gif", protocol.BlockImage},
		{"a.webp", webp, "image/webp", protocol.BlockImage},
		{"a.pdf", pdf, "application/pdf", protocol.BlockFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write(c.name, c.content)
			text, r := b.run("Read", in{"path": c.name})
			if r.IsError || len(r.Content) != 2 {
				t.Fatal(text)
			}
			block := r.Content[1]
			if block.Type != c.kind || block.MediaType != c.media || string(b.blobs[block.Blob]) != c.content {
				t.Errorf("the block is %+v", block)
			}
		})
	}
}

func TestReadMakesLargeImagesSmaller(t *testing.T) {
	b := newBench(t)
	b.write("a.png", encoded(t, "image/png", picture(3000, 30)))
	_, r := b.run("Read", in{"path": "a.png"})
	if r.IsError {
		t.Fatal(r.Content[0].Text)
	}
	img, _, err := image.Decode(bytes.NewReader(b.blobs[r.Content[1].Blob]))
	if err != nil || img.Bounds().Dx() != maxEdge || img.Bounds().Dy() != 20 {
		t.Errorf("%v, %v", img.Bounds(), err)
	}
}

// One image that a provider refuses would make every later request fail.
func TestReadRefusesImagesAndPDFsThatAreDamaged(t *testing.T) {
	b := newBench(t)
	good := encoded(t, "image/png", picture(20, 10))
	header := []byte(good[:64])
	copy(header[16:], "\x00\x01\x00\x00\x00\x01\x00\x00") // 65,536 × 65,536 pixels
	for name, content := range map[string]string{
		"cut.png": good[:len(good)/2], "huge.png": string(header), "cut.jpg": encoded(t, "image/jpeg", picture(20, 10))[:100],
		"cut.gif": "GIF89a\x01", "cut.webp": "RIFF\xff\x00\x00\x00WEBPVP8 \x00",
		"cut.pdf": "%PDF-1.4\n", "locked.pdf": "%PDF-1.4\n/Encrypt 5 0 R\n%%EOF",
	} {
		b.write(name, content)
		b.fails("Read", in{"path": name}, "cannot be shown")
	}
	if len(b.blobs) > 0 {
		t.Errorf("%d blobs were stored", len(b.blobs))
	}
}

func TestReadOutsideTheWorkspaceGoesThroughItsHandle(t *testing.T) {
	b := newBench(t)
	b.write(filepath.Join(b.out, "a.txt"), "outside\n")
	if text := b.ok("Read", in{"path": filepath.Join(b.out, "a.txt")}); text != "     1\toutside" {
		t.Error(text)
	}
	b.ok("Write", in{"path": filepath.Join(b.out, "new/b.txt"), "content": "x"})
	if got := b.content(filepath.Join(b.out, "new/b.txt")); got != "x" {
		t.Errorf("it holds %q", got)
	}
}

func FuzzReadPage(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff\x00"), 1, 0)
	f.Add([]byte(strings.Repeat("é", 2000)), 1, 1)
	f.Fuzz(func(t *testing.T, data []byte, offset, limit int) {
		b := &validator{}
		var joined []byte
		for i := range data {
			joined = append(joined, b.next(data[i:i+1])...)
		}
		joined = append(joined, b.rest()...)
		if want := strings.ReplaceAll(strings.ToValidUTF8(string(data), ""), "\x00", ""); strings.ReplaceAll(string(joined), "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Errorf("%q becomes %q", data, joined)
		}
		ask := pageAsk{offset: max(offset, 1), limit: max(limit, 0), tokens: 500, drain: true}
		p, err := readPage(t.Context(), newTestReader(data), ask)
		if err != nil || !p.ended || !utf8.ValidString(p.body) {
			t.Fatalf("%v %+v", err, p)
		}
		if p.total > 0 && p.total < ask.offset != (p.body == "") {
			t.Errorf("%d lines, offset %d: %q", p.total, ask.offset, p.body)
		}
	})
}

// newTestReader returns small pieces, so that every border is crossed.
func newTestReader(data []byte) *bufio.Reader {
	return bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(data)), 16)
}
