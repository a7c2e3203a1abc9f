package node

import (
	"github.com/dop251/goja"
	"golang.org/x/net/idna"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/js/weburl"
)

// urlNative is parse(url, base) and set(href, part, value), which give the parts of a
// URL, or null.
func urlNative(e *engine.Engine) goja.Value {
	o := newObject(e)
	o.function("parse", func(c goja.FunctionCall) goja.Value {
		var base *weburl.URL
		if b := c.Argument(1); !goja.IsUndefined(b) {
			var err error
			if base, err = weburl.Parse(b.String(), nil); err != nil {
				return goja.Null()
			}
		}
		u, err := weburl.Parse(c.Argument(0).String(), base)
		if err != nil {
			return goja.Null()
		}
		return urlParts(e, u)
	})
	o.function("set", func(c goja.FunctionCall) goja.Value {
		u, err := weburl.Parse(c.Argument(0).String(), nil)
		if err != nil || setPart(u, c.Argument(1).String(), c.Argument(2).String()) != nil {
			return goja.Null()
		}
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

func setPart(u *weburl.URL, part, value string) error {
	switch part {
	case "protocol":
		scheme, _, _ := cut(value, ':')
		other, err := weburl.Parse(scheme+"://h/", nil)
		if err != nil || weburl.Special(other.Scheme) != weburl.Special(u.Scheme) {
			return nil // what does not fit changes nothing
		}
		u.Scheme = other.Scheme
		return u.SetPort(u.Port)
	case "username", "password":
		if u.Host == "" {
			return nil
		}
		keep := *u
		u.SetUser(value, value)
		if part == "username" {
			u.Password = keep.Password
		} else {
			u.Username = keep.Username
		}
	case "host", "hostname":
		if u.Opaque {
			return nil
		}
		port := u.Port
		if err := u.SetHost(value); err != nil {
			return err
		}
		if part == "hostname" {
			u.Port = port
		}
	case "port":
		return u.SetPort(value)
	case "pathname":
		if !u.Opaque {
			u.SetPath(value)
		}
	case "search":
		if value == "" || value == "?" {
			u.Query = nil
			return nil
		}
		if value[0] == '?' {
			value = value[1:]
		}
		u.SetQuery(value)
	case "hash":
		if value == "" || value == "#" {
			u.Fragment = nil
			return nil
		}
		if value[0] == '#' {
			value = value[1:]
		}
		u.SetFragment(value)
	}
	return nil
}

func cut(s string, c byte) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == c {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func urlParts(e *engine.Engine, u *weburl.URL) goja.Value {
	o := e.VM.NewObject()
	behind := func(mark string, s *string) string {
		if s == nil || *s == "" {
			return ""
		}
		return mark + *s
	}
	for _, p := range [][2]string{{"href", u.String()}, {"protocol", u.Scheme + ":"}, {"username", u.Username}, {"password", u.Password}, {"host", u.HostPort()},
		{"hostname", u.Host}, {"port", u.Port}, {"pathname", u.Path}, {"search", behind("?", u.Query)}, {"hash", behind("#", u.Fragment)}, {"origin", u.Origin()}} {
		_ = o.Set(p[0], p[1])
	}
	return o
}
