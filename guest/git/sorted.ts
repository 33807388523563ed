/**
 * Sorted names behind a fan-out of 256 words, as indexes of packs and commit-graphs have them: which one it is. Stands
 * below pack.ts and layer.ts, above blocks.ts. Nothing is loaded whole: a look-up is two words of the fan-out and a search.
 */

import { BlockFile, bytes, peek } from './blocks';
import { Fault } from './fault';
import { compareOids, oidBytes } from './oid';

/** The word that `word` read. */
export let said: u32 = 0;

/** Reads the word at an offset, which stands there with its highest byte first. */
export function word(file: BlockFile, offset: u64): i32 {
  const fault = peek(file, offset, 4);
  if (fault === Fault.NONE) said = bswap<u32>(load<u32>(bytes));
  return fault;
}

const FIRST_STRIDE: u32 = 16;

/** Which of the names the last `findSorted` found; `isListed` says whether it did. */
export let rank: u32 = 0;
export let isListed: bool = false;

/** Looks a name up among `count` names. CORRUPT: the fan-out is none. O(log count), also where names are no hashes. */
export function findSorted(file: BlockFile, fanAt: u64, namesAt: u64, count: u32, oid: usize): i32 {
  isListed = false;
  const first = <u64>load<u8>(oid);
  let fault = first === 0 ? Fault.NONE : word(file, fanAt + 4 * (first - 1));
  if (fault !== Fault.NONE) return fault;
  let low: u32 = first === 0 ? 0 : said;
  fault = word(file, fanAt + 4 * first);
  if (fault !== Fault.NONE) return fault;
  let high = said;
  if (low > high || high > count) return Fault.CORRUPT;
  // Names are spread evenly: the first look is where this one should be, the next ones go on from there in growing
  // steps until it is passed, and then what is left is halved.
  let middle = low + <u32>(((<u64>(high - low)) * (<u64>bswap<u32>(load<u32>(oid, 1)))) >> 32);
  let stride: u32 = FIRST_STRIDE;
  let before: i32 = 0;
  while (low < high) {
    fault = peek(file, namesAt + <u64>middle * oidBytes, oidBytes);
    if (fault !== Fault.NONE) return fault;
    const order = compareOids(oid, bytes);
    if (order === 0) {
      rank = middle;
      isListed = true;
      return Fault.NONE;
    }
    if (order < 0) high = middle;
    else low = middle + 1;
    if (before === -order) stride = 0;
    before = order;
    const step = min(stride, high - low);
    stride <<= 1;
    if (step === 0) middle = low + ((high - low) >> 1);
    else middle = order < 0 ? high - step : low + step - 1;
  }
  return Fault.NONE;
}
