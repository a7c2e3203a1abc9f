package node

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"

	"scorel/internal/extension/js/engine"
)

// urlNative is parse(url, base) and set(href, part, value), which return the parts of a
// URL as the WHATWG's URL Standard has them, or null.
func urlNative(e *engine.Engine) goja.Value {
	o := newObject(e)
	o.function("parse", func(c goja.FunctionCall) goja.Value {
		var u *url.Url
		var err error
		if base := c.Argument(1); goja.IsUndefined(base) {
			u, err = url.Parse(c.Argument(0).String())
		} else {
			u, err = url.ParseRef(base.String(), c.Argument(0).String())
		}
		if err != nil {
			return goja.Null()
		}
		return urlParts(e, u)
	})
	o.function("set", func(c goja.FunctionCall) goja.Value {
		u, err := url.Parse(c.Argument(0).String())
		if err != nil {
			return goja.Null()
		}
		setPart(u, c.Argument(1).String(), c.Argument(2).String())
		return urlParts(e, u)
	})
	o.function("toASCII", func(c goja.FunctionCall) goja.Value {
		s, err := idna.ToASCII(c.Argument(0).String())
		if err != nil {
			s = ""
		}
		return e.VM.ToValue(s)
	})
	o.function("toUnicode", func(c goja.FunctionCall) goja.Value {
		s, err := idna.ToUnicode(c.Argument(0).String())
		if err != nil {
			s = ""
		}
		return e.VM.ToValue(s)
	})
	return o
}

// setPart sets a part of a URL; what does not fit changes nothing.
func setPart(u *url.Url, part, value string) {
	switch part {
	case "protocol":
		u.SetProtocol(value)
	case "username":
		u.SetUsername(value)
	case "password":
		u.SetPassword(value)
	case "host":
		u.SetHost(value)
	case "hostname":
		u.SetHostname(value)
	case "port":
		u.SetPort(value)
	case "pathname":
		u.SetPathname(value)
	case "search":
		u.SetSearch(value)
	case "hash":
		u.SetHash(value)
	}
}

// origin returns the origin of a URL, "null" where it has none.
func origin(u *url.Url) string {
	if !u.IsSpecialScheme() || u.Scheme() == "file" {
		if u.Scheme() == "blob" {
			if inner, err := url.Parse(u.Pathname()); err == nil && strings.HasPrefix(inner.Scheme(), "http") {
				return origin(inner)
			}
		}
		return "null"
	}
	return u.Protocol() + "//" + u.Host()
}

func urlParts(e *engine.Engine, u *url.Url) goja.Value {
	o := e.VM.NewObject()
	for _, p := range [][2]string{{"href", u.Href(false)}, {"protocol", u.Protocol()}, {"username", u.Username()}, {"password", u.Password()}, {"host", u.Host()},
		{"hostname", u.Hostname()}, {"port", u.Port()}, {"pathname", u.Pathname()}, {"search", u.Search()}, {"hash", u.Hash()}, {"origin", origin(u)}} {
		_ = o.Set(p[0], p[1])
	}
	return o
}
