/** The languages whose code is coloured: their names, and how the grammar of each is loaded when it is needed. */
import type { LanguageRegistration } from "shiki/core";

type Grammar = () => Promise<{ default: LanguageRegistration[] }>;

const grammars: Record<string, Grammar> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  make: () => import("shiki/langs/make.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

/** Other names, and ends of file names. TSX is a superset of JavaScript, so one grammar serves both. */
const others: Record<string, string> = {
  "c++": "cpp",
  cc: "cpp",
  cjs: "tsx",
  console: "bash",
  cs: "csharp",
  cts: "typescript",
  dockerfile: "docker",
  golang: "go",
  h: "c",
  hpp: "cpp",
  htm: "html",
  javascript: "tsx",
  js: "tsx",
  json5: "json",
  jsonc: "json",
  jsonl: "json",
  jsx: "tsx",
  kt: "kotlin",
  kts: "kotlin",
  makefile: "make",
  md: "markdown",
  mjs: "tsx",
  mk: "make",
  mts: "typescript",
  patch: "diff",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

/** The language of a name such as "js", undefined of one that is not coloured. */
export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase();
  const found = Object.hasOwn(others, lower) ? others[lower] : lower;
  return found !== undefined && Object.hasOwn(grammars, found) ? found : undefined;
}

/** The language of a file, by its name. */
export function languageOfPath(path: string): string | undefined {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  return languageOf(name) ?? languageOf(name.split(".").at(-1) ?? "");
}

export function loadGrammar(language: string): Promise<{ default: LanguageRegistration[] }> {
  const load = grammars[language];
  return load ? load() : Promise.reject(new Error(`there is no grammar of ${language}`));
}
