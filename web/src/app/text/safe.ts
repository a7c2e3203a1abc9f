/** What makes text of models and tools safe to show. */
import { cleanText, exactText as exact, literalText as literal } from "../../display/index";

// Written as text, because these characters are not seen in a pattern.
const suspect = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufeff\\uffa0\\ufff9-\\ufffb]",
);

// Marks above and below a letter: thousands on one stop the browser.
const piled = /([\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff]{16})[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff]+/g;

/** {@link safeText} of what somebody decides about: control characters are shown as well. */
export function exactText(s: string): string {
  return exact(s).replace(piled, "$1…");
}

/** {@link exactText} of what is run, opened or compared as it is, with all that is not seen. */
export function literalText(s: string): string {
  return literal(s).replace(piled, "$1…");
}

/** Text with what reorders or hides others shown by its number, and at most 16 marks on a letter. */
export function safeText(s: string): string {
  return (suspect.test(s) ? cleanText(s) : s).replace(piled, "$1…");
}
