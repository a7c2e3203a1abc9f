package main

import (
	_ "embed"
	"encoding/json"
)

//go:embed peers.json
var peersJSON []byte

// peers is what other agents took, measured once and not run here. The values
// are in the unit of the figure.
type peers struct {
	Date    string            `json:"date"`
	Machine string            `json:"machine"`
	Figures map[string][]peer `json:"figures"` // by the key of the figure
}

type peer struct {
	Peer  string  `json:"peer"`
	Value float64 `json:"value"`
}

func readPeers() (peers, error) {
	var p peers
	err := json.Unmarshal(peersJSON, &p)
	return p, err
}
