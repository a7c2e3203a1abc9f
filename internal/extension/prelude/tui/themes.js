// The themes of components, made of the theme that extensions draw with.

const inRole = (role) => (text) => theme.fg(role, text);

function getMarkdownTheme() {
  return {
    heading: (text) => theme.bold(theme.fg("mdHeading", text)),
    link: (text) => theme.underline(theme.fg("mdLink", text)),
    linkUrl: inRole("mdLinkUrl"),
    code: inRole("mdCode"),
    codeBlock: inRole("mdCodeBlock"),
    codeBlockBorder: inRole("mdCodeBlockBorder"),
    quote: inRole("mdQuote"),
    quoteBorder: inRole("mdQuoteBorder"),
    hr: inRole("mdHr"),
    listBullet: inRole("mdListBullet"),
    bold: theme.bold,
    italic: theme.italic,
    underline: theme.underline,
    strikethrough: theme.strikethrough,
  };
}

function getSelectListTheme() {
  return { selectedPrefix: inRole("accent"), selectedText: inRole("accent"), description: inRole("muted"), scrollInfo: inRole("muted"), noMatch: inRole("muted") };
}

function getSettingsListTheme() {
  return {
    label: (text, selected) => (selected ? theme.fg("accent", text) : String(text)),
    value: (text, selected) => theme.fg(selected ? "accent" : "muted", text),
    description: inRole("dim"),
    cursor: theme.fg("accent", "→ "),
    hint: inRole("dim"),
  };
}

const getEditorTheme = () => ({ borderColor: inRole("borderMuted"), selectList: getSelectListTheme() });
