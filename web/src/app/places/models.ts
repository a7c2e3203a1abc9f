/** Providers and models, as a person chooses among them. */
import type { ModelInfo } from "../../protocol/index";

/** Those that most people have a key of come first. */
const usual = ["anthropic", "openai", "google", "openrouter"];

/** The providers of models: what is before the slash. */
export function providersOf(models: readonly ModelInfo[]): string[] {
  const found = new Set<string>(usual);
  for (const m of models) {
    const at = m.ref.indexOf("/");
    if (at > 0) found.add(m.ref.slice(0, at));
  }
  return [...found];
}

/** How a model is called where there is little room: without its provider. */
export function shortModel(ref: string): string {
  return ref.split("/").at(-1) || ref;
}
