package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// openAPI returns the document that is generated from the source.
func openAPI(t *testing.T) map[string]any {
	t.Helper()
	m, _ := built(t)
	c, err := contract(m)
	if err != nil {
		t.Fatal(err)
	}
	data, err := openapiJSON(c)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestTheDocumentIsOpenAPI validates it against the schema of the OpenAPI Initiative.
func TestTheDocumentIsOpenAPI(t *testing.T) {
	data, err := os.ReadFile("testdata/openapi-3.1/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	official, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	doc := openAPI(t)
	if err := official.Validate(doc); err != nil {
		t.Error(err)
	}
	for what, spoil := range map[string]func(operation map[string]any){
		"a field that there is not":    func(o map[string]any) { o["body"] = map[string]any{} },
		"no answer":                    func(o map[string]any) { delete(o["responses"].(map[string]any)["default"].(map[string]any), "$ref") },
		"a parameter without its form": func(o map[string]any) { o["parameters"] = []any{map[string]any{"name": "x", "in": "query"}} },
	} {
		doc := openAPI(t)
		spoil(doc["paths"].(map[string]any)["/v1/status"].(map[string]any)["get"].(map[string]any))
		if official.Validate(doc) == nil {
			t.Errorf("the schema takes %s", what)
		}
	}
}

// TestTheSchemasOfTheDocumentAreComplete resolves every reference, and finds no schema that
// nothing refers to.
func TestTheSchemasOfTheDocumentAreComplete(t *testing.T) {
	doc := openAPI(t)
	defined := map[string]bool{}
	for kind, all := range doc["components"].(map[string]any) {
		for name := range all.(map[string]any) {
			if kind != "securitySchemes" {
				defined["#/components/"+kind+"/"+name] = false
			}
		}
	}
	ids := map[string]bool{}
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if name, ok := v["$ref"].(string); ok {
				if _, ok := defined[name]; !ok {
					t.Errorf("there is no %s", name)
				}
				defined[name] = true
			}
			if id, ok := v["operationId"].(string); ok {
				if ids[id] {
					t.Errorf("two operations are named %s", id)
				}
				ids[id] = true
			}
			for _, inner := range v {
				look(inner)
			}
		case []any:
			for _, inner := range v {
				look(inner)
			}
		}
	}
	look(doc)
	for name, used := range defined {
		if !used {
			t.Errorf("nothing refers to %s", name)
		}
	}
}

// TestEveryRequestHasItsPaths: its own, and the one of its name, unless it needs a
// connection that stays.
func TestEveryRequestHasItsPaths(t *testing.T) {
	m, _ := built(t)
	paths := openAPI(t)["paths"].(map[string]any)
	for _, p := range m.pairs {
		if _, ok := paths["/v1/requests/"+p.name]; ok == p.subscribes {
			t.Errorf("%s: a path of its name is %v", p.name, ok)
		}
		if p.path == "" {
			continue
		}
		at, _ := paths[p.path].(map[string]any)
		if at[strings.ToLower(p.method)] == nil {
			t.Errorf("%s: there is no %s %s", p.name, p.method, p.path)
		}
	}
}
