/**
 * Origins: where a block came from, which is what it is judged by. A line each, `<run> <place>`, in the order they were
 * added; the place is a building or a room, as an address. Pure: bytes in, lines out. Beside blocks.ts, which keeps them.
 *
 * A line counts only if it is whole and its place is an address. A line that a crash cut is closed with `:` before the
 * next one is added: no address holds a colon, so what is left of `vault` never becomes a grant to `vau`.
 * Spec: locators-and-catalog, "Block store".
 */

import { type Address, isBroken, parseAddress } from '../judge/address.js';
import { NAME_MAX_BYTES } from '../limits.js';
import { strictText } from '../tree/names.js';

/** Who stored a block, and for which building or room. */
export interface Origin {
  /** Text without white space or control characters; `-` for no run. */
  readonly run: string;
  readonly place: Address;
}

/** The run of what was stored for no run. */
export const NO_RUN = '-';

/** Whether a text can name a run in a line: what follows the first space is the place, so it holds none. */
export const isRunName = (run: string): boolean =>
  /^[^\s\p{Cc}]+$/u.test(run) && run.isWellFormed() && new TextEncoder().encode(run).length <= NAME_MAX_BYTES;

const NEWLINE = 0x0a;

/** The whole lines of a file that are origins, in order; what is none, and a last line without its end, is passed over. */
export function originsIn(bytes: Uint8Array): readonly Origin[] {
  const origins: Origin[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const origin = originOf(bytes.subarray(start, end));
    if (origin !== undefined) origins.push(origin);
    start = end + 1;
  }
  return origins;
}

function originOf(line: Uint8Array): Origin | undefined {
  const text = strictText(line);
  const space = text?.indexOf(' ') ?? -1;
  if (text === undefined || space < 1) return undefined;
  const place = parseAddress(text.slice(space + 1));
  return isBroken(place) ? undefined : { run: text.slice(0, space), place };
}

/** The bytes that add an origin to a file: behind a torn last line, that line's end first. */
export function addition({ run, place }: Origin, file: Uint8Array): Uint8Array {
  const isTorn = file.length > 0 && file.at(-1) !== NEWLINE;
  return new TextEncoder().encode(`${isTorn ? ':\n' : ''}${run} ${place}\n`);
}
