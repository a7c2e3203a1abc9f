package ignore

import "testing"

// What rg 13 does with slashes at the end of a rule.
func TestRulesThatEndWithSlashesFitWhatTheyFitInRipgrep(t *testing.T) {
	for rule, fitsFolder := range map[string]bool{
		"a/": true, "**/": true, "**//": true, "**/**/": true, "**/**//": true, "/**//": true,
		"a//": false, "**/*//": false, "**//b": false, "***//": false,
	} {
		r, ok := parseLine(rule)
		if got := ok && r.match("a", true); got != fitsFolder {
			t.Errorf("%q fits the folder a: %v, want %v", rule, got, fitsFolder)
		}
		if ok && r.match("a", false) {
			t.Errorf("%q fits the file a", rule)
		}
	}
}
