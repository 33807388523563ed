/**
 * What a search was asked, as the WIT's `query` says it. Stands between index.ts, which fills it, and the walk.
 * The guest knows no number of its own.
 */

import { Needle } from '../text/find';

/** A query: the needle, and every number the host sets. Counts in names, lines and hits; caps of text and files in bytes. */
// @ts-ignore: decorator
@unmanaged
export class Ask {
  needle: Needle;
  /** Lines shown on each side of a hit. */
  context: u32;
  matchCap: u32;
  lineCap: u32;
  textCap: u32;
  fileCap: u32;
  unreadShown: u32;
  pageEntries: u32;
  pageBytes: u32;
}

/** The one query of this instance, which serves one call. */
export const ask = changetype<Ask>(memory.data(36, 4));
