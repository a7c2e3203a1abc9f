# Reads what `go test`, scripts/fuzz.sh and vitest print and names each test that failed, with
# the command that repeats it. The variable race is the flag that the tests ran with.
# A test counts where none of its subtests failed; a package without such a test (it
# does not build, it panicked outside of a test) counts by itself.

# pattern is the -run pattern for a test: each level on its own, taken literally.
function pattern(name,    levels, n, i, out) {
	gsub(/[].*+?(){}|^$\\[]/, "\\\\&", name)
	n = split(name, levels, "/")
	for (i = 1; i <= n; i++) out = out (i > 1 ? "/" : "") "^" levels[i] "$"
	return out
}

function quoted(s) {
	gsub(/'/, "'\\''", s)
	return "'" s "'"
}

function flags() { return race == "" ? "" : race " " }

function add(name,    i) {
	for (i = 1; i <= n; i++) if (names[i] == name) return
	names[++n] = name
}

# report prints what failed of a package, whose path is as `go test` writes it.
function report(package,    i, j, inner, shown) {
	sub(/^scorel/, ".", package)
	for (i = 1; i <= n; i++) {
		inner = 0
		for (j = 1; j <= n; j++) if (index(names[j], names[i] "/") == 1) inner = 1
		if (inner) continue
		shown = 1
		printf "failed: %s %s\n        go test %s-count=1 -run %s %s\n", package, names[i], flags(), quoted(pattern(names[i])), package
	}
	if (!shown) printf "failed: %s\n        go test %s-count=1 %s\n", package, flags(), package
	n = 0
}

{ sub(/\r$/, ""); gsub(/\033\[[0-9;]*m/, "") }
/^ *--- FAIL: / { add($3); next }
/^\trunning tests:/ { running = 1; next }
running && /^\t\t/ { add($1); next }
{ running = 0 }
/^ok  \t/ { n = 0 }
/^FAIL\t/ { split($0, part, "\t"); sub(/ \[.*/, "", part[2]); report(part[2]) }
/^-- [^ ]+ Fuzz/ { printf "failed: ./%s %s\n        go test -run '^%s$' -fuzz '^%s$' ./%s\n", $2, $3, $3, $3, $2 }
/^ FAIL  src\// { printf "failed: web/%s\n        npm test --prefix web -- %s\n", substr($0, 8), $2 }
