// Builds the package in dist: what tsc makes of index.ts and what it imports, with the names of
// imported files as Node wants them.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
rmSync(dist, { recursive: true, force: true });
execFileSync("npx", ["tsc", "-p", join(here, "tsconfig.build.json")], { cwd: here, stdio: "inherit" });
for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (!/\.(js|d\.ts)$/.test(name)) continue;
  const path = join(dist, name);
  const end = (from) => (existsSync(`${resolve(dirname(path), from)}.js`) ? ".js" : "/index.js");
  const text = readFileSync(path, "utf8");
  writeFileSync(
    path,
    text.replace(/(from |import\()"(\.[^"]*)"/g, (_, before, from) => `${before}"${from}${end(from)}"`),
  );
}
