/** Addresses of models are text until they are one of these. */
const schemes = new Set(["http:", "https:", "mailto:"]);

/** The address of a link, undefined of one that the page does not open: another scheme, or none. */
export function safeHref(address: string): string | undefined {
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return undefined;
  try {
    const url = new URL(address);
    return schemes.has(url.protocol) && url.username === "" && url.password === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** The host of an address that a link's text names, if the link leads to another; "" if it does not. */
export function otherHost(text: string, href: string): string {
  if (!/^\s*(https?:\/\/|www\.)|^\s*[\w-]+(\.[\w-]+)+(\/\S*)?\s*$/i.test(text)) return "";
  try {
    const said = new URL(/^\s*https?:\/\//i.test(text) ? text.trim() : `https://${text.trim()}`).host;
    const real = new URL(href).host;
    return real && said.replace(/^www\./, "") !== real.replace(/^www\./, "") ? real : "";
  } catch {
    return "";
  }
}
