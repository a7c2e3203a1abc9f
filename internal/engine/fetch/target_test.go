package fetch

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestURLsAreWrittenInNormalForm(t *testing.T) {
	for raw, want := range map[string]string{
		"https://Example.COM":                        "example.com https://example.com/",
		"HTTP://example.com/a?b=c#frag":              "example.com https://example.com/a?b=c",
		"http://example.com:80/":                     "example.com https://example.com/",
		"https://example.com./":                      "example.com https://example.com/",
		" https://example.com/ü ":                    "example.com https://example.com/%C3%BC",
		"https://example.com:443/":                   "example.com https://example.com/",
		"https://example.com:8443/":                  "example.com:8443 https://example.com:8443/ exact",
		"http://example.com:8080/x":                  "example.com:8080 http://example.com:8080/x exact",
		"https://bücher.example/":                    "xn--bcher-kva.example https://xn--bcher-kva.example/",
		"https://аpple.com/":                         "xn--pple-43d.com https://xn--pple-43d.com/",
		"https://１.１.１.１/":                           "1.1.1.1 https://1.1.1.1/",
		"https://ｅxample。com/":                       "example.com https://example.com/",
		"https://example.com/\"?\"<ü>'":              "example.com https://example.com/%22?%22%3C%C3%BC%3E'",
		"http://8.8.8.8/":                            "8.8.8.8 https://8.8.8.8/",
		"https://[2606:4700:4700::1111]/":            "2606:4700:4700::1111 https://[2606:4700:4700::1111]/",
		"https://[2606:4700:4700:0:0:0:0:1111]:8443": "[2606:4700:4700::1111]:8443 https://[2606:4700:4700::1111]:8443/ exact",
		"https://[::ffff:8.8.8.8]/":                  "8.8.8.8 https://8.8.8.8/",
		"http://localhost:3000/x":                    "localhost:3000 http://localhost:3000/x exact",
		"http://LOCALHOST.:3000/x":                   "localhost:3000 http://localhost:3000/x exact",
		"http://app.localhost:3000":                  "app.localhost:3000 http://app.localhost:3000/ exact",
		"http://localhost":                           "localhost http://localhost/ exact",
		"http://127.0.0.1:3000/":                     "127.0.0.1:3000 http://127.0.0.1:3000/ exact",
		"http://[::1]:3000/":                         "[::1]:3000 http://[::1]:3000/ exact",
		"http://[::ffff:127.0.0.1]:3000/":            "127.0.0.1:3000 http://127.0.0.1:3000/ exact",
		"https://my_host.example.com/":               "my_host.example.com https://my_host.example.com/",
		"https://example.com/http://10.0.0.1/":       "example.com https://example.com/http://10.0.0.1/",
		"https://127.0.0.1.example.com/":             "127.0.0.1.example.com https://127.0.0.1.example.com/",
	} {
		got, err := ParseTarget(raw)
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		text := got.Host() + " " + got.String()
		if got.Exact() {
			text += " exact"
		}
		if text != want {
			t.Errorf("%q: %q, want %q", raw, text, want)
		}
	}
}

func TestURLsThatAreNoPublicPageAreRefused(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                                 "no scheme",
		"example.com":                                      "no scheme",
		"//example.com/":                                   "no scheme",
		"ftp://example.com/":                               "only http and https",
		"file:///etc/passwd":                               "only http and https",
		"javascript:alert(1)":                              "only http and https",
		"https:example.com":                                "names no host",
		"https:///etc":                                     "names no host",
		"https://:80/":                                     "names no host",
		"http://good.example@evil.example/":                "user name or a password",
		"http://user:sesame@example.com/":                  "user name or a password",
		"http://@example.com/":                             "user name or a password",
		"http://example.com\\@10.0.0.1/":                   "not a valid URL",
		"http://exa mple.com/":                             "not a valid URL",
		"https://example.com/a b":                          "not a valid URL",
		"https://example.com/\x00":                         "not a valid URL",
		"http://2130706433/":                               "ordinary form",
		"http://0177.0.0.1/":                               "ordinary form",
		"http://0x7f.0.0.1/":                               "ordinary form",
		"http://0x7f000001/":                               "ordinary form",
		"http://127.1/":                                    "ordinary form",
		"http://10.0.0.0x1/":                               "ordinary form",
		"http://1.2.3.4.5/":                                "ordinary form",
		"http://010.8.8.8/":                                "ordinary form",
		"http://example.123/":                              "ordinary form",
		"http://10.0.0.1/":                                 "10.0.0.1 is not fetched: it is in a private network",
		"http://10.0.0.1./":                                "in a private network",
		"http://169.254.169.254/latest/":                   "a link-local address",
		"http://0.0.0.0:3000/":                             "this machine",
		"http://[::]:3000/":                                "this machine",
		"http://[::ffff:10.0.0.1]/":                        "in a private network",
		"http://[::ffff:a9fe:a9fe]/":                       "a link-local address",
		"http://[64:ff9b::7f00:1]/":                        "stands for another",
		"http://[fe80::1%25eth0]/":                         "without a zone",
		"http://[::1%25lo]:3000/":                          "without a zone",
		"http://[fd00:ec2::254]/":                          "in a private network",
		"http://intranet/":                                 "not a public name",
		"http://metadata/":                                 "not a public name",
		"https://example..com/":                            "not a valid name",
		"https://.example.com/":                            "not a valid name",
		"https://example.com../":                           "not a valid name",
		"https://exa*mple.com/":                            "not a valid name",
		"https://example.com:0/":                           "from 1 to 65535",
		"https://example.com:65536/":                       "from 1 to 65535",
		"https://" + strings.Repeat("a", 64) + ".com/":     "not a valid name",
		"https://example.com/" + strings.Repeat("a", 5000): "longer than 4096",
	} {
		_, err := ParseTarget(raw)
		switch {
		case err == nil:
			t.Errorf("%q is accepted", raw)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %q", raw, err, want)
		case strings.Contains(err.Error(), "sesame"), strings.Contains(err.Error(), "passwd"):
			t.Errorf("%q: the error repeats more than the host: %v", raw, err)
		}
	}
}

// FuzzParseTarget judges URLs: what is accepted and is not this machine names no
// address that any resolver would read as one that is not public, and means the
// same when it is read again.
func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"http://2130706433/", "http://0x7f.1/", "http://[::ffff:7f00:1]/", "https://user@example.com", "http://localhost.:3000/",
		"https://ⓔxample.com", "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://[fe80::1%25x]/", "https://a.b:80/?q=@10.0.0.1", "https://0/", "http://１２７.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := ParseTarget(raw)
		if err != nil {
			return
		}
		u, err := url.Parse(got.String())
		if err != nil || u.User != nil || u.Hostname() != got.name || (u.Scheme != "http" && u.Scheme != "https") {
			t.Fatalf("%q becomes %q", raw, got)
		}
		again, err := ParseTarget(got.String())
		if err != nil || again.String() != got.String() || again.Host() != got.Host() || again.local != got.local || again.port != got.port {
			t.Fatalf("%q becomes %q, and that %q: %v", raw, got, again, err)
		}
		if u.Port() != "" && u.Port() != strconv.Itoa(int(got.port)) {
			t.Fatalf("%q: port %d of %q", raw, got.port, got)
		}
		if got.local {
			if !got.Exact() {
				t.Fatalf("%q is this machine, and a wide permission is enough", raw)
			}
			return
		}
		if a, ok := numeric(got.name); ok && refusal(a) != "" {
			t.Fatalf("%q is dialled as %s", raw, a)
		}
	})
}

// numeric reads an address as inet_aton and inet_pton together would: up to four
// parts, each decimal, octal or hexadecimal.
func numeric(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a, true
	}
	parts := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			v |= (n & 255) << (24 - 8*i)
		} else {
			v |= n
		}
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}
