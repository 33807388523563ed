/**
 * The embedder's `deny` patterns: data, checked by both walls, and a denial always wins. A path is denied if a pattern
 * matches it or any directory above it. Compared without case, so that no file system that folds names gets round one.
 *
 * A pattern is segments: `**` stands for any number of them, `*` in one for any run of characters, `?` for one
 * character. Anything else that globs elsewhere mean (`[`, `]`, `{`, `}`, `\`, `!` at the start) is not evaluated: such a
 * pattern closes everything, since nobody knows what it was to close. Matching is linear in pattern × path.
 */

/** A pattern ready to be matched; `null` closes everything. */
export type Denying = readonly (readonly string[])[] | null;

/** Whether this project evaluates the pattern. */
export const isEvaluable = (pattern: string): boolean =>
  pattern !== '' &&
  pattern.isWellFormed() &&
  !/[[\]{}\\]|^!/.test(pattern) &&
  !/^\/|\/$|\/\/|(^|\/)\.\.?($|\/)/.test(pattern);

/** Prepares patterns. O(their length). */
export function compileDeny(patterns: readonly string[]): Denying {
  if (!patterns.every(isEvaluable)) return null;
  return patterns.map((pattern) => {
    const segments = pattern.split('/').map(foldCase);
    // `a/**` covers what is below a, not a itself: its last `**` takes one segment at least.
    return segments.at(-1) === '**' ? [...segments.slice(0, -1), '*', '**'] : segments;
  });
}

/** Whether the address, or a directory above it, is denied. `''`, the city itself, only if a pattern is not evaluable. */
export function isDenied(denying: Denying, address: string): boolean {
  if (denying === null) return true;
  if (denying.length === 0 || address === '') return false;
  // Split first: what folds to a slash (`／`, `℅`) is in a name and parts none.
  const segments = address.split('/').map(spellingsOf);
  return denying.some((pattern) => matchesPrefix(pattern, segments));
}

/** How a segment may be meant: folded, and with as many characters as it shows (`ﬁ` is one to a `?`, and `fi` to a name). */
const spellingsOf = (segment: string): readonly string[] =>
  // Most names: nothing in them folds but case.
  PLAIN_ASCII.test(segment) ? [segment.toLowerCase()] : [foldCase(segment), lowerCase(segment.normalize('NFC'))];
const PLAIN_ASCII = /^[ -~]*$/;

/** Without the letters whose small form is more than one character. */
const lowerCase = (text: string): string =>
  Array.from(text, (character) => {
    const lower = character.toLowerCase();
    return Array.from(lower).length === 1 ? lower : character;
  }).join('');

/** Case and compatibility forms folded: `ſ` and `S` are `s`, `ﬁ` is `fi`. */
const foldCase = (text: string): string => text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');

/** Whether the pattern matches some leading segments. `reached[n]`: what was matched so far ends before segment n. */
function matchesPrefix(pattern: readonly string[], segments: readonly (readonly string[])[]): boolean {
  let reached = new Array<boolean>(segments.length + 1).fill(false);
  reached[0] = true;
  for (const part of pattern) {
    const next = new Array<boolean>(segments.length + 1).fill(false);
    for (const [index, here] of reached.entries()) {
      if (part === '**') next[index] = here || (index > 0 && next[index - 1] === true);
      else if (here && segments[index]?.some((spelling) => matchesSegment(part, spelling))) next[index + 1] = true;
    }
    reached = next;
  }
  return reached.some((here, index) => here && index > 0);
}

/** `*` and `?` in one segment: the last `*` is the only place to go back to, so the work is bounded by the product. */
function matchesSegment(pattern: string, text: string): boolean {
  const [wanted, given] = [Array.from(pattern), Array.from(text)];
  let [at, from, star, mark] = [0, 0, -1, 0];
  while (from < given.length) {
    if (wanted[at] === '*') [star, mark] = [at++, from];
    else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[from])) [at, from] = [at + 1, from + 1];
    else if (star >= 0) [at, from] = [star + 1, ++mark];
    else return false;
  }
  while (wanted[at] === '*') at++;
  return at === wanted.length;
}
