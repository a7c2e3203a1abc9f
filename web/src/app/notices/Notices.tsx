import { useNotices } from "./notices";

/** Draws nothing: it tells outside of the page what waits. */
export function Notices(): null {
  useNotices();
  return null;
}
