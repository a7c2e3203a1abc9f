/** Addresses of models are text until they are one of these. */
const schemes = ["http:", "https:", "mailto:"];

/** The address of a link of a model, undefined for one that is not followed. */
export function safeHref(text: string): string | undefined {
  try {
    const url = new URL(text);
    return schemes.includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined; // relative ones lead nowhere
  }
}
