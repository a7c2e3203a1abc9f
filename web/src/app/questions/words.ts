import { words } from "../words/index";

export const questionsWords = words(
  { allow: "Allow once", deny: "Deny", asks: (tool: string) => `${tool}?` },
  { allow: "允许一次", deny: "拒绝", asks: (tool: string) => `${tool}？` },
);
