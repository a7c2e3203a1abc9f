/** Messages that a slash command has sent in a frame, as people typed and read them: the twin of protocol/framed. */

const tags = ["mcp-prompt", "project-command"];

/** A message as people read it: in place of a frame the command as it was typed, in a line before what it has sent. */
export function unframed(text: string): string {
  for (const tag of tags) {
    if (!text.startsWith(`<${tag} `)) continue;
    let rest = text.slice(tag.length + 2);
    let command = "";
    while (!rest.startsWith(">")) {
      const found = /^ ?([^=]*)=("(?:[^"\\]|\\.)*")/.exec(rest);
      if (!found) return text;
      rest = rest.slice(found[0].length);
      let value = "";
      try {
        value = JSON.parse(found[2] ?? "") as string;
      } catch {
        return text;
      }
      if (found[1] === "name") command = `/${value}${command}`;
      else if (found[1] === "args") command += ` ${value}`;
    }
    if (!command.startsWith("/")) return text;
    rest = rest.slice(1);
    const end = rest.indexOf(`\n</${tag}>`);
    return command + (end < 0 ? rest : rest.slice(0, end) + rest.slice(end + tag.length + 4));
  }
  return text;
}

/** What a person has typed for a message: the command alone, where one has sent it in a frame. */
export function typed(text: string): string {
  const shown = unframed(text);
  return shown === text ? text : (shown.split("\n")[0] ?? "");
}
