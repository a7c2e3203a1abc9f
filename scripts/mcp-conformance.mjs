// Runs the MCP conformance suite: its server part against "scorel mcp serve --http", its client
// part with mcp-conformance-client.mjs, and names what it finds. The fixtures of the server part
// (tools like test_simple_text) are not there, so a check that needs one is not counted, nor is
// what a revision does not require.
//
//	npm install --prefix DIR @modelcontextprotocol/conformance@0.2.0-alpha.12
//	node scripts/mcp-conformance.mjs DIR     # Node 22 or later
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve as resolvePath } from "node:path";
import { fileURLToPath } from "node:url";

const installed = resolvePath(process.argv[2] ?? ".", "node_modules/@modelcontextprotocol/conformance");
const suite = join(installed, "dist/index.js");
if (Number(process.versions.node.split(".")[0]) < 22) {
	console.log(`not run: the suite needs Node 22 or later; this is ${process.version}`);
	process.exit(0);
}
if (!existsSync(suite)) {
	console.log(`not run: ${suite} is missing; npm install --prefix DIR @modelcontextprotocol/conformance@0.2.0-alpha.12, then name DIR`);
	process.exit(0);
}

// What a check says whose fixture is missing, and the scenarios that are not scored.
const fixture = /unknown tool|unknown prompt|Resource not found|Not testable|not found\. Available tools|Expected InputRequiredResult|Prerequisite failed/;
const unscored = /^server-(tasks-|json-schema-2020-12|http-custom-header)/;

const home = mkdtempSync(join(tmpdir(), "scorel-c"));
const environ = { ...process.env, HOME: home };
const program = join(home, "scorel");
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
let served, failures = 0;

// check runs what a revision requires of one side, and prints what it finds in what counts.
async function check(revision, side, args, skip) {
	const out = join(home, `${revision}-${side}`);
	await new Promise((resolve) => spawn(process.execPath, [suite, side, ...args, "--requirements", revision, "-o", out], { stdio: "ignore", env: { ...process.env, SCOREL_PROGRAM: program } }).once("exit", resolve));
	let passed = 0, left = 0, failed = 0;
	for (const file of readdirSync(out, { recursive: true })) {
		if (!file.endsWith("checks.json") || skip(dirname(file))) continue;
		for (const found of JSON.parse(readFileSync(join(out, file), "utf8"))) {
			if (found.status === "SUCCESS") passed++;
			if (found.status !== "FAILURE") continue;
			if (side === "server" && fixture.test(found.errorMessage ?? "")) {
				left++;
				continue;
			}
			failed++;
			console.log(`${revision} ${side} ${found.id}: ${found.errorMessage ?? found.description}`);
		}
	}
	if (passed === 0) throw new Error(`${revision} ${side}: no check has run`);
	failures += failed;
	console.log(`${revision} ${side}: ${passed} checks passed, ${failed} failed` + (left > 0 ? `, ${left} need a fixture of the suite` : ""));
}

try {
	execFileSync("go", ["build", "-o", program, "./cmd/scorel"], { cwd: root, stdio: "inherit" });
	mkdirSync(join(home, ".scorel", "commands"), { recursive: true, mode: 0o700 });
	mkdirSync(join(home, "project"));
	writeFileSync(join(home, "script.jsonl"), '{"script":1}\n{"again":true,"do":[{"text":"Hello."}]}\n');
	writeFileSync(join(home, ".scorel", "config.toml"), `[model]\nname = 'script:${home}/script.jsonl'\n`);
	writeFileSync(join(home, ".scorel", "commands", "review.md"), "---\ndescription: Reviews\n---\nReview $1.\n");
	served = spawn(program, ["mcp", "serve", "--http", "127.0.0.1:0", "--tools", "coding"], { cwd: join(home, "project"), env: environ, stdio: ["ignore", "pipe", "inherit"] });
	const url = new URL(await new Promise((resolve, reject) => {
		served.stdout.once("data", (line) => resolve(String(line).trim()));
		served.once("exit", () => reject(new Error("the server has ended")));
	}));
	const token = readFileSync(join(home, ".scorel", "mcp-serve.header"), "utf8").trim().split(": ")[1];

	// The suite cannot send a token, so a proxy adds it.
	const proxy = http.createServer((request, answer) => {
		const headers = { ...request.headers, authorization: token };
		if (/^(localhost|127\.0\.0\.1):/.test(headers.host ?? "")) headers.host = url.host;
		const passing = http.request({ host: url.hostname, port: url.port, path: request.url, method: request.method, headers }, (from) => {
			answer.writeHead(from.statusCode, from.headers);
			answer.flushHeaders();
			from.pipe(answer);
		});
		passing.on("error", () => answer.destroy());
		answer.on("close", () => passing.destroy());
		request.pipe(passing);
	});
	await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
	const address = `http://127.0.0.1:${proxy.address().port}${url.pathname}`;

	for (const revision of ["2025-11-25", "2026-07-28"]) {
		const required = readFileSync(join(installed, "requirements", `${revision}.yaml`), "utf8");
		const others = [...required.matchAll(/- scenario: (\S+)\s+leg: client/g)].map((found) => found[1]);
		const client = `${process.execPath} ${join(root, "scripts/mcp-conformance-client.mjs")}`;
		await check(revision, "server", ["--url", address, "--timeout", "20000"], (scenario) => unscored.test(scenario));
		await check(revision, "client", ["--command", client], (scenario) => others.some((other) => scenario.startsWith(`${other}-`)));
	}
	proxy.close();
	proxy.closeAllConnections();
} finally {
	served?.kill();
	if (existsSync(program)) {
		try {
			execFileSync(program, ["host", "stop", "--now"], { env: environ, stdio: "ignore" });
		} catch {} // none runs
	}
	rmSync(home, { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);
