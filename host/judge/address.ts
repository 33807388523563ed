/**
 * Addresses: the one grammar of city-relative paths, as values that cannot be made otherwise. Where a call's
 * path begins: `admit` parses what was asked into an `Address`, and every place a link or listing leads to is
 * asked the same rules. Pure text; imports nothing.
 */

declare const brand: unique symbol;

/** A city-relative path of plain segments, byte for byte as it was written. Only `parseAddress` makes one. */
export type Address = string & { readonly [brand]: true };

/** The rules of the grammar, in the order they are asked. */
export type AddressRule =
  | 'not-unicode'
  | 'empty'
  | 'absolute'
  | 'backslash'
  | 'colon'
  | 'control'
  | 'empty-segment'
  | 'dot-segment'
  | 'trailing';

/** The first rule a text breaks. */
export interface Broken {
  readonly broken: AddressRule;
}

/** What is wrong, as half a sentence: in a recovery, and after "its name is not an address: ". */
export const RULE_SENTENCES: Readonly<Record<AddressRule, string>> = {
  'not-unicode': 'it is not well-formed Unicode',
  empty: 'it is empty',
  absolute: 'it starts with a slash',
  backslash: 'it contains a backslash',
  colon: 'it contains a colon',
  control: 'it contains a control character',
  'empty-segment': 'it contains an empty segment (a doubled or trailing slash)',
  'dot-segment': 'it contains a `.` or `..` segment',
  trailing: 'a segment of it ends with a dot or with white space',
};

/** Rules about the text as a whole, in order. With the `u` flag a surrogate matches only where it is alone. */
const TEXT_RULES: readonly (readonly [AddressRule, RegExp])[] = [
  ['not-unicode', /[\ud800-\udfff]/u],
  ['empty', /^$/],
  ['absolute', /^\//],
  ['backslash', /\\/],
  ['colon', /:/],
  ['control', /\p{Cc}/u],
];

/** Rules about one segment, in order. */
const SEGMENT_RULES: readonly (readonly [AddressRule, RegExp])[] = [
  ['empty-segment', /^$/],
  ['dot-segment', /^\.\.?$/],
  ['trailing', /(?:\.|\p{White_Space})$/u],
];

/** Printable ASCII that no rule is about, not ending in a dot or a space: the quick answer for nearly every name. */
const PLAIN_SEGMENT = /^[ -.0-9;-[\]-~]*[!--0-9;-[\]-~]$/;
const isPlain = (segment: string): boolean => PLAIN_SEGMENT.test(segment);

const firstBroken = (text: string, rules: readonly (readonly [AddressRule, RegExp])[]): AddressRule | undefined =>
  rules.find(([, pattern]) => pattern.test(text))?.[0];

/**
 * The address `raw` spells, or the first rule it breaks. Nothing is normalised: what is accepted is `raw` itself.
 * Rules of the text come first, then segment by segment, left to right. Linear in `raw`; `''` is `empty`.
 */
export function parseAddress(raw: string): Address | Broken {
  // As below: no rule is about any of it. Segment by segment, since one pattern for all would use its stack up.
  if (raw.split('/').every(isPlain)) return raw as Address;
  const broken = firstBroken(raw, TEXT_RULES) ?? firstInSegments(raw);
  // The brand is given here and nowhere else: every rule was asked.
  return broken === undefined ? (raw as Address) : { broken };
}

function firstInSegments(raw: string): AddressRule | undefined {
  for (const segment of raw.split('/')) {
    const broken = firstBroken(segment, SEGMENT_RULES);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** Tells a refusal of the grammar from an address. */
export const isBroken = (parsed: Address | Broken): parsed is Broken => typeof parsed !== 'string';

/**
 * The rule one name of a listing breaks, or undefined if it can be a segment: the same rules in the same order as
 * `parseAddress`, for a name without `/`. Linear in the name.
 */
export const segmentRule = (segment: string): AddressRule | undefined =>
  isPlain(segment) ? undefined : (firstBroken(segment, TEXT_RULES) ?? firstBroken(segment, SEGMENT_RULES));

/** Whether `address` is `prefix` or lies below it: by whole segments, case-sensitive. */
export const isWithin = (address: Address, prefix: Address): boolean =>
  address === prefix || address.startsWith(`${prefix}/`);

const DOT = 0x2e;

/** Without the `u` flag, `i` folds no non-ASCII letter onto an ASCII one: `.ſprawling` and `.gıt` are not these. */
const RESERVED_SEGMENT = /^\.(?:sprawling|git)$/i;
const RESERVED_ANYWHERE = /(?:^|\/)\.(?:sprawling|git)(?:\/|$)/i;

/** Whether one segment is a reserved name, `.sprawling` or `.git`, ASCII case folded. */
export const isReservedSegment = (segment: string): boolean =>
  segment.charCodeAt(0) === DOT && RESERVED_SEGMENT.test(segment);

/** Whether any segment of a path is a reserved name. Linear; `''` is not. */
export const isReserved = (address: string): boolean => RESERVED_ANYWHERE.test(address);

/** The segments, at least one. */
export const segmentsOf = (address: Address): readonly string[] => address.split('/');

/** The address of a name in a directory; `directory` is '' for the city itself. */
export const joined = (directory: string, name: string): string => (directory === '' ? name : `${directory}/${name}`);

/** The first segment: the building an address lies in. Of `''`, which is the city itself, `''`. */
export function buildingOf(address: string): string {
  const end = address.indexOf('/');
  return end < 0 ? address : address.slice(0, end);
}
