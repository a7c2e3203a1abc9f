/** The name of the tab: what is shown, and before it how many questions wait. */
let shown = "Scorel";
let waiting = "";

function draw(): void {
  document.title = waiting + shown;
}

/** Names the tab; "" is the page's own name. */
export function setTitle(text: string): void {
  shown = text === "" ? "Scorel" : `${text} – Scorel`;
  draw();
}

/** What stands before the name, such as "(2) ". */
export function setWaiting(text: string): void {
  waiting = text;
  draw();
}
