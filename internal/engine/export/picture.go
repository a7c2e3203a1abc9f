package export

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
)

// maxPictures is how many bytes of pictures a page holds in all.
const maxPictures = 20 << 20

// payload writes a payload: as a picture when its bytes are one and there is room,
// else as its name.
func (p *page) payload(b protocol.Block) {
	name := display.Line(b.Name)
	if name == "" {
		name = display.Line(b.MediaType)
	}
	if p.src.Blob == nil {
		p.file(name, "not in this page")
		return
	}
	r, size, err := p.src.Blob(b.Blob)
	if err != nil {
		p.file(name, "missing")
		return
	}
	defer r.Close()
	if b.Type != protocol.BlockImage {
		p.file(name, bytesOf(size))
		return
	}
	head := make([]byte, 512) // what sniffing looks at
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		p.file(name, "cannot be read")
		return
	}
	media := pictureType(head[:n])
	switch {
	case media == "":
		p.file(name, "is not a PNG, JPEG, GIF or WebP")
		return
	case size > p.pictures:
		p.file(name, bytesOf(size)+", left out: the page holds at most 20 MiB of pictures")
		return
	}
	p.pictures -= size
	p.put(`<figure><img alt="`, escape(name), `" src="data:`, media, ";base64,")
	enc := base64.NewEncoder(base64.StdEncoding, p.w)
	_, _ = enc.Write(head[:n])
	_, err = io.Copy(enc, io.LimitReader(r, size-int64(n)))
	_ = enc.Close()
	p.put(`">`)
	if err != nil {
		p.put("<figcaption>The picture could not be read to its end.</figcaption>")
	}
	p.put("</figure>\n")
}

func (p *page) file(name, what string) {
	p.put(`<span class="file">`, escape(name), " · ", escape(what), "</span>\n")
}

// pictureType returns the type of a picture by its first bytes, "" for all that is
// none or can hold more than pixels, such as SVG.
func pictureType(head []byte) string {
	switch media, _, _ := strings.Cut(http.DetectContentType(head), ";"); media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return media
	}
	return ""
}

func bytesOf(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
