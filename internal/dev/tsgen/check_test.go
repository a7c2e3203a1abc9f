package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// fits returns why a JSON value, as encoding/json reads it into any, is not of a type.
func (m *module) fits(v any, t typ) error {
	switch t := t.(type) {
	case prim:
		ok := false
		switch t {
		case unknown:
			ok = true
		case null:
			ok = v == nil
		case text:
			_, ok = v.(string)
		case number:
			_, ok = v.(float64)
		case integer, long, count:
			n, isNumber := v.(float64)
			ok = isNumber && n == math.Trunc(n) && (t != count || n >= 0)
		case boolean:
			_, ok = v.(bool)
		}
		if !ok {
			return fmt.Errorf("%v is no %s", v, t)
		}
	case lit:
		if v != string(t) {
			return fmt.Errorf("%v is not %q", v, string(t))
		}
	case yes:
		if v != true {
			return fmt.Errorf("%v is not true", v)
		}
	case list:
		items, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%v is not a list", v)
		}
		for i, item := range items {
			if err := m.fits(item, t.of); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case union:
		var why []string
		for _, u := range t {
			err := m.fits(v, u)
			if err == nil {
				return nil
			}
			why = append(why, err.Error())
		}
		return fmt.Errorf("none fits: %s", strings.Join(why, "; "))
	case ref:
		return m.fitsDecl(v, m.by[string(t)])
	}
	return nil
}

func (m *module) fitsDecl(v any, d *decl) error {
	switch d.kind {
	case alias:
		return m.fits(v, d.is)
	case brand:
		return m.fits(v, text)
	case enum:
		if !slices.ContainsFunc(d.values, func(c goConst) bool { return c.value == v }) {
			return fmt.Errorf("%v is no %s", v, d.name)
		}
		return nil
	case object:
		return m.fitsFields(v, d.name, m.all(d))
	}
	return fmt.Errorf("%s is no type", d.name)
}

func (m *module) fitsFields(v any, name string, fields []field) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%v is no %s", v, name)
	}
	known := map[string]bool{}
	for _, f := range fields {
		known[f.name] = true
		value, there := object[f.name]
		switch {
		case !there && !f.optional:
			return fmt.Errorf("%s.%s is missing", name, f.name)
		case !there:
			continue
		}
		if err := m.fits(value, f.typ); err != nil {
			return fmt.Errorf("%s.%s: %w", name, f.name, err)
		}
	}
	for key := range object {
		if !known[key] {
			return fmt.Errorf("%s.%s is not declared", name, key)
		}
	}
	return nil
}
