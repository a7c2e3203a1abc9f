/** What makes text and addresses of models and tools safe to show. */
import { cleanText } from "../../display/index";

// Written as text, because these characters are not seen in a pattern.
const suspect = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufeff\\uffa0\\ufff9-\\ufffb]",
);

/** Text with what reorders or hides others shown by its number. */
export function safeText(s: string): string {
  return suspect.test(s) ? cleanText(s) : s;
}

const schemes = new Set(["http:", "https:", "mailto:"]);

/** The address of a link, undefined of one that the page does not open: another scheme, or none. */
export function safeLink(address: string): string | undefined {
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
