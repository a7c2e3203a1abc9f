package fetch

import (
	"slices"
	"sync"
	"time"
)

const (
	cachePages = 16
	cacheBytes = 32 << 20
	cacheTime  = 15 * time.Minute
)

// Shown is a page as it was shown, for paging through it.
type Shown struct {
	URL, Title, MediaType string
	Text                  string
}

func (s Shown) size() int { return len(s.URL) + len(s.Title) + len(s.MediaType) + len(s.Text) }

// Cache keeps the newest shown pages for a short time, so that who pages through
// one sees one text and the server is asked once. The zero value works.
type Cache struct {
	Now func() time.Time // nil is the clock

	mu    sync.Mutex // guards what follows; nothing waits under it
	pages []cached   // the oldest first
	bytes int
}

type cached struct {
	url    string
	format Format
	at     time.Time
	page   Shown
}

// Get returns the page that was put for a URL and a format at most 15 minutes ago.
func (c *Cache) Get(t Target, f Format) (Shown, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(func(p cached) bool { return c.now().Sub(p.at) > cacheTime })
	for _, p := range c.pages {
		if p.url == t.String() && p.format == f {
			return p.page, true
		}
	}
	return Shown{}, false
}

// Put keeps a page in place of an older one. The oldest go when there are too
// many or they are too large; one that is too large alone is not kept.
func (c *Cache) Put(t Target, f Format, page Shown) {
	c.mu.Lock()
	defer c.mu.Unlock()
	url := t.String()
	c.drop(func(p cached) bool { return p.url == url && p.format == f })
	if page.size() > cacheBytes {
		return
	}
	c.pages = append(c.pages, cached{url, f, c.now(), page})
	c.bytes += page.size()
	for len(c.pages) > cachePages || c.bytes > cacheBytes {
		c.bytes -= c.pages[0].page.size()
		c.pages = slices.Delete(c.pages, 0, 1)
	}
}

func (c *Cache) drop(which func(cached) bool) {
	c.pages = slices.DeleteFunc(c.pages, func(p cached) bool {
		if which(p) {
			c.bytes -= p.page.size()
			return true
		}
		return false
	})
}

func (c *Cache) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}
