package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/model/catalog"
)

// source is a model as the package describes it.
type source struct {
	Type             string             `json:"type"`
	ID               string             `json:"id"`
	API              string             `json:"api"`
	Provider         string             `json:"provider"`
	BaseURL          string             `json:"baseUrl"`
	Reasoning        bool               `json:"reasoning"`
	Input            []string           `json:"input"`
	ThinkingLevelMap map[string]*string `json:"thinkingLevelMap"`
	ContextWindow    int                `json:"contextWindow"`
	MaxTokens        int                `json:"maxTokens"`
	Headers          map[string]string  `json:"headers"`
	Cost             struct {
		Input, Output, CacheRead, CacheWrite float64
	} `json:"cost"`
	Compat struct {
		MaxTokensField            string `json:"maxTokensField"`
		ThinkingFormat            string `json:"thinkingFormat"`
		SupportsReasoningEffort   *bool  `json:"supportsReasoningEffort"`
		RequiresReasoningContent  bool   `json:"requiresReasoningContentOnAssistantMessages"`
		ForceAdaptiveThinking     bool   `json:"forceAdaptiveThinking"`
		SupportsMidConvoEffort    bool   `json:"supportsMidConvoEffort"`
		SupportsCacheControlTools *bool  `json:"supportsCacheControlOnTools"`
	} `json:"compat"`
	InputLimits struct {
		Images struct {
			Resize struct {
				MaxBytes int `json:"maxBytes"`
			} `json:"resize"`
		} `json:"images"`
	} `json:"inputLimits"`
}

type contents struct {
	origin catalog.Origin
	models []source
}

// readPackage reads the data files of the tarball: each holds models by API and
// then by name.
func readPackage(name string) (contents, error) {
	var out contents
	f, err := os.Open(name)
	if err != nil {
		return out, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return out, fmt.Errorf("read %s: %w", name, err)
	}
	files := map[string][]byte{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, fmt.Errorf("read %s: %w", name, err)
		}
		if h.Name == "package/package.json" || path.Dir(h.Name) == "package/dist/providers/data" && path.Ext(h.Name) == ".json" {
			if files[h.Name], err = io.ReadAll(t); err != nil {
				return out, err
			}
		}
	}
	var meta struct{ Name, Version, License string }
	if err := json.Unmarshal(files["package/package.json"], &meta); err != nil {
		return out, fmt.Errorf("package.json: %w", err)
	}
	var manifest struct {
		GeneratedAt string `json:"generatedAt"`
	}
	if err := json.Unmarshal(files["package/dist/providers/data/.manifest.json"], &manifest); err != nil {
		return out, fmt.Errorf("manifest: %w", err)
	}
	date, _, _ := strings.Cut(manifest.GeneratedAt, "T")
	out.origin = catalog.Origin{Package: meta.Name, Version: meta.Version, License: meta.License, Date: date}
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		if strings.HasPrefix(path.Base(n), ".") || path.Base(n) == "package.json" {
			continue
		}
		var apis map[string]map[string]source
		if err := json.Unmarshal(files[n], &apis); err != nil {
			return out, fmt.Errorf("%s: %w", n, err)
		}
		for _, models := range apis {
			for _, m := range models {
				out.models = append(out.models, m)
			}
		}
	}
	return out, nil
}
