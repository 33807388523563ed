/**
 * Locators: the one grammar of what names stored bytes, a block by its hash or a file as it was in a commit. Where `read`
 * asks what it was given, before anything is judged. Pure text; reads nothing.
 *
 *     cas:b3-<64 hex>[#(L|B)<a>-<b>]      file:<address>@<40 or 64 hex>[#(L|B)<a>-<b>]
 *
 * Disjoint from addresses, which hold no colon. Spec: locators-and-catalog, "Locator grammar".
 */

import { type Address, type AddressRule, isBroken, parseAddress, RULE_SENTENCES } from './address.js';

/** BLAKE3 of a block, as it stands in its Locator: 64 lower-case hex digits. */
export type BlockHash = string;

/** A closed range: lines counted from 1 (`L`), or bytes counted from 0 (`B`). Both ends are u64. */
export interface LocatorRange {
  readonly unit: 'L' | 'B';
  readonly first: bigint;
  readonly last: bigint;
}

/** What a Locator names. */
export type Locator =
  | { readonly kind: 'cas'; readonly hash: BlockHash; readonly range?: LocatorRange }
  /** `oid`: a commit, 40 or 64 lower-case hex digits. */
  | { readonly kind: 'file'; readonly address: Address; readonly oid: string; readonly range?: LocatorRange };

/** The rules of the grammar, in the order they are asked. */
export type LocatorRule = 'hash' | 'oid' | 'address' | 'range-form' | 'range-number' | 'range-order' | 'range-line';

/** The first rule a text breaks; `address` is the one of the address in it. */
export interface BrokenLocator {
  readonly broken: LocatorRule;
  readonly address?: AddressRule;
}

const SENTENCES: Readonly<Record<LocatorRule, string>> = {
  hash: 'it does not begin with `cas:b3-` and 64 lower-case hex digits',
  oid: 'its address is not followed by `@` and a commit of 40 or 64 lower-case hex digits',
  address: 'what stands before the commit is not an address',
  'range-form': 'its range is not `#L<first>-<last>` or `#B<first>-<last>`',
  'range-number': 'a number of its range has a sign, a leading zero or more than 64 bits',
  'range-order': 'its range ends before it begins',
  'range-line': 'lines are counted from 1',
};

/** What is wrong with a text, as half a sentence. */
export const locatorSentence = ({ broken, address }: BrokenLocator): string =>
  address === undefined ? SENTENCES[broken] : `${SENTENCES[broken]}: ${RULE_SENTENCES[address]}`;

/** Whether a text means to be a Locator: no address begins so, and what begins so is never looked up as anything else. */
export const isLocator = (text: string): boolean => text.startsWith('cas:') || text.startsWith('file:');

const CAS = /^cas:b3-([0-9a-f]{64})(#.*)?$/s;
/** Greedy: an address may hold `@` and `#`, so the commit is what follows the last `@` that one can follow. */
const FILE = /^file:(.*)@([0-9a-f]{64}|[0-9a-f]{40})(#[^@]*)?$/s;
const RANGE = /^#([LB])([0-9]+)-([0-9]+)$/;
const NUMBER = /^(?:0|[1-9][0-9]{0,19})$/;
const U64_MAX = 2n ** 64n - 1n;

/**
 * The Locator `raw` spells, or the first rule it breaks. Nothing is normalised: `printLocator` of what is accepted is
 * `raw`. Asked of what `isLocator` says yes to; anything else breaks `hash`. Linear.
 */
export function parseLocator(raw: string): Locator | BrokenLocator {
  return raw.startsWith('file:') ? parseFile(raw) : parseCas(raw);
}

/** Tells a refusal of the grammar from a Locator. */
export const isBrokenLocator = (parsed: Locator | BrokenLocator): parsed is BrokenLocator => 'broken' in parsed;

function parseCas(raw: string): Locator | BrokenLocator {
  const [, hash, tail] = CAS.exec(raw) ?? [];
  if (hash === undefined) return { broken: 'hash' };
  const range = parseRange(tail);
  return isBrokenRange(range) ? range : { kind: 'cas', hash, ...(range && { range }) };
}

function parseFile(raw: string): Locator | BrokenLocator {
  const [, place, oid, tail] = FILE.exec(raw) ?? [];
  if (place === undefined || oid === undefined) return { broken: 'oid' };
  const address = parseAddress(place);
  if (isBroken(address)) return { broken: 'address', address: address.broken };
  const range = parseRange(tail);
  return isBrokenRange(range) ? range : { kind: 'file', address, oid, ...(range && { range }) };
}

const isBrokenRange = (range: LocatorRange | BrokenLocator | undefined): range is BrokenLocator =>
  range !== undefined && 'broken' in range;

/** `tail` is what follows the hash or the commit, its `#` included; undefined where nothing does. */
function parseRange(tail: string | undefined): LocatorRange | BrokenLocator | undefined {
  if (tail === undefined) return undefined;
  const [, unit, from = '', to = ''] = RANGE.exec(tail) ?? [];
  if (unit !== 'L' && unit !== 'B') return { broken: /^#[LB][+-]?[0-9]/.test(tail) ? 'range-number' : 'range-form' };
  if (!NUMBER.test(from) || !NUMBER.test(to)) return { broken: 'range-number' };
  const [first, last] = [BigInt(from), BigInt(to)];
  if (first > U64_MAX || last > U64_MAX) return { broken: 'range-number' };
  if (unit === 'L' && first === 0n) return { broken: 'range-line' };
  return first > last ? { broken: 'range-order' } : { unit, first, last };
}

/** The text of a Locator: what it was parsed from, byte for byte. Linear. */
export function printLocator(locator: Locator): string {
  const { range } = locator;
  const named = locator.kind === 'cas' ? `cas:b3-${locator.hash}` : `file:${locator.address}@${locator.oid}`;
  return range === undefined ? named : `${named}#${range.unit}${range.first}-${range.last}`;
}
