// What modules export of all this.

const NO_TERMINAL = "An extension has no terminal; ui.custom shows a component on the screens of people.";
const ofTui = {
  Component, Container, Box, Text, TruncatedText, Spacer, Markdown, Image, Loader, CancellableLoader, SelectList, SettingsList, Input, Editor,
  CURSOR_MARKER, renderFakeCursor, isFocusable, visibleWidth, truncateToWidth, wrapTextWithAnsi,
  Key, matchesKey, parseKey, isKeyRelease, isKeyRepeat, decodeKittyPrintable, isKittyProtocolActive: () => false, setKittyProtocolActive() {},
  fuzzyMatch, fuzzyFilter,
  TUI_KEYBINDINGS, KeybindingsManager, getKeybindings, setKeybindings,
  EditorKeybindingsManager: KeybindingsManager, getEditorKeybindings: getKeybindings, setEditorKeybindings: setKeybindings,
  TUI: class TUI {
    constructor() {
      throw new Error(`TUI is not supported by Scorel. ${NO_TERMINAL}`);
    }
  },
};
ofTui.TUI.refused = `TUI is not supported by Scorel. ${NO_TERMINAL}`;

const ofAgent = { DynamicBorder, BorderedLoader, CustomEditor, getMarkdownTheme, getSelectListTheme, getSettingsListTheme, keyHint, keyText, rawKeyHint };

// truncateToVisualLines keeps the last lines of a text at a width.
ofAgent.truncateToVisualLines = (text, maxVisualLines, width, paddingX = 0) => {
  const all = new Text(text, paddingX, 0).render(width);
  const visualLines = all.slice(Math.max(0, all.length - maxVisualLines));
  return { visualLines, skippedCount: all.length - visualLines.length };
};

return { ofTui, ofAgent, keybindings, editorTheme: getEditorTheme };
