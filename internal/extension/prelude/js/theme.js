// The theme that extensions draw with: SGR sequences of the 16 colours that a terminal
// has, by pi's names of roles, so that each theme of the terminal stays readable. What goes
// to clients of other kinds is shown without them.

const foregrounds = {
  text: 39, userMessageText: 39, customMessageText: 39, toolOutput: 39, mdCodeBlock: 39, toolDiffContext: 39, syntaxVariable: 39, syntaxPunctuation: 39,
  accent: 36, border: 36, borderAccent: 36, mdHeading: 36, mdListBullet: 36, mdCode: 36, syntaxFunction: 36, thinkingMedium: 36,
  success: 32, toolDiffAdded: 32, syntaxString: 32, bashMode: 32, thinkingLow: 32,
  error: 31, toolDiffRemoved: 31, thinkingXhigh: 31,
  warning: 33, syntaxNumber: 33, thinkingHigh: 33,
  customMessageLabel: 35, syntaxKeyword: 35, syntaxType: 35,
  mdLink: 34,
  toolTitle: 1,
  muted: 2, dim: 2, borderMuted: 2, thinkingText: 2, mdLinkUrl: 2, mdCodeBlockBorder: 2, mdQuote: 2, mdQuoteBorder: 2, mdHr: 2,
  syntaxComment: 2, syntaxOperator: 39, thinkingOff: 2, thinkingMinimal: 2,
};

// A colour behind a text could hide it, so what is selected is reversed and the rest has
// the terminal's own background.
const backgrounds = { selectedBg: 7, userMessageBg: 0, customMessageBg: 0, toolPendingBg: 0, toolSuccessBg: 0, toolErrorBg: 0 };

// sgrEnd has the argument that takes back what another sets.
const sgrEnd = { 1: 22, 2: 22, 3: 23, 4: 24, 7: 27, 9: 29 };

const inStyle = (code, text) => (code === 0 ? String(text) : `\x1b[${code}m${text}\x1b[${sgrEnd[code] || 39}m`);

const unknownRoles = new Set();

function roleIn(table, role) {
  if (Object.hasOwn(table, role)) return table[role];
  if (!unknownRoles.has(role) && unknownRoles.size < 64) {
    unknownRoles.add(role);
    log("warning", `The theme has no colour ${role}; the text is shown as it is.`);
  }
  return 0;
}

const theme = Object.freeze({
  name: "terminal",
  fg: (role, text) => inStyle(roleIn(foregrounds, role), text),
  bg: (role, text) => inStyle(roleIn(backgrounds, role), text),
  bold: (text) => inStyle(1, text),
  dim: (text) => inStyle(2, text),
  italic: (text) => inStyle(3, text),
  underline: (text) => inStyle(4, text),
  inverse: (text) => inStyle(7, text),
  strikethrough: (text) => inStyle(9, text),
  getFgAnsi: (role) => sgrOf(roleIn(foregrounds, role)),
  getBgAnsi: (role) => sgrOf(roleIn(backgrounds, role)),
  getColorMode: () => "256color",
  getThinkingBorderColor: (level) => (text) => theme.fg(`thinking${level.charAt(0).toUpperCase()}${level.slice(1)}`, text),
  getBashModeBorderColor: () => (text) => theme.fg("bashMode", text),
});

function sgrOf(code) {
  return code === 0 ? "" : `\x1b[${code}m`;
}

// withoutStyles gives a text for what shows none.
function withoutStyles(text) {
  return String(text).replace(/\x1b\[[0-9;:]*m/g, "");
}
