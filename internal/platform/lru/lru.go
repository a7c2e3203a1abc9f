// Package lru has a cache that keeps what was used last. It exists so that nothing
// that grows with what a host meets (files, folders, sessions) lives in a bare map.
package lru

import (
	"container/list"
	"sync"
)

// Cache is a map of at most max entries. Adding one more drops the entries that
// were not used for longest, down to trimTo: in bulk, so that a full cache does not
// work at every addition. Get and Put use an entry. With empty values it is a set.
// It may be used by several goroutines at once.
type Cache[K comparable, V any] struct {
	max, trimTo int

	mu    sync.Mutex
	byKey map[K]*list.Element
	order list.List // of entry[K, V], the one used last in front
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New makes an empty cache. It panics unless 0 < trimTo <= max: both are constants of
// the caller.
func New[K comparable, V any](max, trimTo int) *Cache[K, V] {
	if trimTo <= 0 || trimTo > max {
		panic("lru: the bounds of a cache must be 0 < trimTo <= max")
	}
	return &Cache[K, V]{max: max, trimTo: trimTo, byKey: map[K]*list.Element{}}
}

// Get returns the value of a key.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put sets the value of a key.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		e.Value.(*entry[K, V]).value = value
		c.order.MoveToFront(e)
		return
	}
	if c.order.Len() >= c.max {
		for c.order.Len() > c.trimTo-1 {
			e := c.order.Back()
			delete(c.byKey, e.Value.(*entry[K, V]).key)
			c.order.Remove(e)
		}
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value})
}

// Len returns how many entries there are.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}
