/**
 * `portcullis history`: how entries of history come out for a person. Beside answering.ts, which asks the city. On a pipe
 * the answer and an entry are exactly their bytes; only a terminal is shown what it would obey or hide spelled out.
 */

import type { SearchHistoryValue } from '../tools/search-history.js';
import { shownBlock } from './blocks.js';
import type { Look } from './people.js';
import { visible } from './terminal.js';

/** Words behind `history`. */
export interface HistoryWords {
  readonly entry?: string;
}

/** An answer of `search_history`: to a pattern with a line about it for the other stream, or an entry as it is. */
export function showHistory(
  value: SearchHistoryValue,
  out: Look,
  err: Look,
): { readonly out: string | Uint8Array; readonly err: string } {
  if ('base64' in value) return { out: shownBlock(Buffer.from(value.base64, 'base64'), out.isTerminal), err: '' };
  const text = out.isTerminal ? shownBlock(new TextEncoder().encode(value.text), true) : value.text;
  if (!('addresses' in value)) return { out: text, err: '' };
  const { length } = value.addresses;
  const said = length === 0 ? 'no entries' : `${length} ${length === 1 ? 'entry' : 'entries'}, newest first`;
  const cut = value.truncated
    ? `\n${err.colours.refusal('cut')}: ${visible(value.stopped ?? 'more was left', 'name')}`
    : '';
  return { out: text, err: `${said}${cut}\n` };
}
