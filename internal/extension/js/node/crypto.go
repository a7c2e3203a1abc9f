package node

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"fmt"
	"hash"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
)

// Bounds of pbkdf2Sync, which nothing interrupts.
const (
	maxRounds = 10_000_000
	maxKey    = 4_096 // bytes
)

func algorithm(name string) (func() hash.Hash, error) {
	switch name {
	case "md5":
		return md5.New, nil
	case "sha1", "sha-1", "rsa-sha1":
		return sha1.New, nil
	case "sha224":
		return sha256.New224, nil
	case "sha256", "sha-256", "rsa-sha256":
		return sha256.New, nil
	case "sha384", "sha-384":
		return sha512.New384, nil
	case "sha512", "sha-512", "rsa-sha512":
		return sha512.New, nil
	}
	return nil, fmt.Errorf("the digest %q is not supported; md5, sha1, sha224, sha256, sha384 and sha512 are", name)
}

func cryptoNative(e *engine.Engine) goja.Value {
	o := newObject(e)
	var state func(h hash.Hash, clone func() hash.Hash) goja.Value
	state = func(h hash.Hash, clone func() hash.Hash) goja.Value {
		s := newObject(e)
		s.function("update", func(c goja.FunctionCall) goja.Value {
			h.Write(e.Bytes(c.Argument(0)))
			return goja.Undefined()
		})
		s.function("digest", func(goja.FunctionCall) goja.Value { return e.Buffer(h.Sum(nil)) })
		s.function("copy", func(goja.FunctionCall) goja.Value {
			m, ok := h.(encoding.BinaryMarshaler)
			if !ok || clone == nil {
				e.Throw(fmt.Errorf("a Hmac cannot be copied"))
			}
			data, err := m.MarshalBinary()
			if err != nil {
				e.Throw(err)
			}
			other := clone()
			if err := other.(encoding.BinaryUnmarshaler).UnmarshalBinary(data); err != nil {
				e.Throw(err)
			}
			return state(other, clone)
		})
		return s
	}
	o.function("hash", func(c goja.FunctionCall) goja.Value {
		make, err := algorithm(c.Argument(0).String())
		if err != nil {
			e.Throw(err)
		}
		if key := c.Argument(1); !goja.IsNull(key) {
			return state(hmac.New(make, append([]byte(nil), e.Bytes(key)...)), nil)
		}
		return state(make(), make)
	})
	o.function("equal", func(c goja.FunctionCall) goja.Value {
		return e.VM.ToValue(subtle.ConstantTimeCompare(e.Bytes(c.Argument(0)), e.Bytes(c.Argument(1))) == 1)
	})
	o.function("pbkdf2", func(c goja.FunctionCall) goja.Value {
		make, err := algorithm(c.Argument(4).String())
		rounds, size := int(c.Argument(2).ToInteger()), int(c.Argument(3).ToInteger())
		if err == nil && (rounds < 1 || rounds > maxRounds || size < 1 || size > maxKey) {
			err = fmt.Errorf("pbkdf2 takes up to %d rounds and %d bytes", maxRounds, maxKey)
		}
		var key []byte
		if err == nil {
			key, err = pbkdf2.Key(make, string(e.Bytes(c.Argument(0))), e.Bytes(c.Argument(1)), rounds, size)
		}
		if err != nil {
			e.Throw(err)
		}
		return e.Buffer(key)
	})
	return o
}
