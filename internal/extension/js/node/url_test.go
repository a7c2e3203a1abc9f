package node

import (
	"testing"

	"github.com/nlnwa/whatwg-url/url"
)

// The library is held to what extensions were given before it.
func TestURLsResolveAsTheStandardSays(t *testing.T) {
	for _, c := range []struct{ in, base, want string }{
		{"https://example.com", "", "https://example.com/"},
		{"https://EXAMPLE.com:443/a/../b/./c/", "", "https://example.com/b/c/"},
		{`http:\\h\a\b`, "", "http://h/a/b"},
		{"http:////h//a", "", "http://h//a"},
		{" http://h/a b?x y#f g ", "", "http://h/a%20b?x%20y#f%20g"},
		{"http://u:p%3A@h:81/é?é#é", "", "http://u:p%3A@h:81/%C3%A9?%C3%A9#%C3%A9"},
		{"../c", "https://h:8080/a/b/", "https://h:8080/a/c"},
		{"c", "https://h/a/b", "https://h/a/c"},
		{"/x", "https://h/a/b?q", "https://h/x"},
		{"?q", "https://h/a/b?p#f", "https://h/a/b?q"},
		{"#f", "https://h/a/b?p", "https://h/a/b?p#f"},
		{"", "https://h/a/b?p#f", "https://h/a/b?p"},
		{"//other/x", "https://h/a", "https://other/x"},
		{"https:x", "https://h/a/b", "https://h/a/x"},
		{"../../../x", "http://h/a", "http://h/x"},
		{"file:///a b/c", "", "file:///a%20b/c"},
		{"file://localhost/a", "", "file:///a"},
		{"file:/a", "", "file:///a"},
		{"mailto:a@b.c?subject=x", "", "mailto:a@b.c?subject=x"},
		{"data:text/plain,hi there", "", "data:text/plain,hi there"},
		{"foo://Host/a/../b", "", "foo://Host/b"},
		{"http://[::1]:80/", "", "http://[::1]/"},
		{"http://[::ffff:1.2.3.4]/", "", "http://[::ffff:102:304]/"},
		{"http://0x7f.1/", "", "http://127.0.0.1/"},
		{"http://2130706433/", "", "http://127.0.0.1/"},
		{"http://bücher.example/", "", "http://xn--bcher-kva.example/"},
		{"http://h/%2e%2E/x", "", "http://h/x"},
		{"http://h?x'y", "", "http://h/?x%27y"},
		{"http://ex%61mple.com", "", "http://example.com/"},
	} {
		u, err := url.Parse(c.in)
		if c.base != "" {
			u, err = url.ParseRef(c.base, c.in)
		}
		if err != nil || u.String() != c.want {
			t.Errorf("%q with %q is %v, %v; want %s", c.in, c.base, u, err, c.want)
		}
	}
}

func TestWhatIsNoURLIsRefused(t *testing.T) {
	for _, s := range []string{"", "x", "/a", "http://", "http://a b/", "http://h:x/", "http://h:99999/", "http://[::1/", "http://1.2.3.256/", "http://u@/", "a://u@:", "a://:80/", "http://a%00b/", "//h"} {
		if u, err := url.Parse(s); err == nil {
			t.Errorf("%q is taken as %s", s, u)
		}
	}
}
