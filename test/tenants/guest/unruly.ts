/**
 * Our own guest, but for three words: asked for `loop` it never returns, for `trap` it traps, for `bomb` it takes all
 * the memory there is and then traps. So that in one pool some tenants' guests are hostile and all others' are what ships.
 */

import { search as honest } from '../../../guest/index';

export { cabi_realloc, further, history, more, next, older, read, trail } from '../../../guest/index';

/** Their bytes as a number, little end first. */
const LOOP: u32 = 0x706f6f6c;
const TRAP: u32 = 0x70617274;
const BOMB: u32 = 0x626d6f62;

export function search(
  text: usize, textSize: usize, hasOnly: i32, only: usize, onlySize: usize, context: u32, matchCap: u32, lineCap: u32,
  textCap: u32, fileCap: u32, unreadShown: u32, pageEntries: u32, pageBytes: u32,
): usize {
  const word = textSize === 4 ? load<u32>(text) : 0;
  if (word === LOOP) while (true) {}
  if (word === BOMB) while (memory.grow(64) >= 0 || memory.grow(1) >= 0) {}
  if (word === BOMB || word === TRAP) unreachable();
  return honest(
    text, textSize, hasOnly, only, onlySize, context, matchCap, lineCap, textCap, fileCap, unreadShown, pageEntries,
    pageBytes,
  );
}
