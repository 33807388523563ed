/**
 * What may be sent to a terminal: the last step of an answer for a person. Files and their names are
 * other people's words, and a terminal obeys some of them: escape sequences move the cursor, set the
 * clipboard and retitle the window, and directional controls make a name read as another one. So everything
 * that is not visible text is spelled out. Pure; imports nothing.
 */

/** Where the words stand. A name is compared by eye and stands on one line; text is read, and may hold tabs. */
export type Place = 'name' | 'text';

/**
 * What is spelled out. Cc: the controls. Cf: directional overrides (they reorder), and what is invisible
 * (zero-width characters, the tag characters that can carry a whole hidden sentence). Zl, Zp: line ends to
 * some terminals and to none of our tools. Cs: half a surrogate pair, which has no UTF-8.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Cf that is ink on paper: number and verse signs of Arabic, Syriac and Kaithi. */
const VISIBLE_FORMATS = /^[\u{600}-\u{605}\u{6dd}\u{70f}\u{890}\u{891}\u{8e2}\u{110bd}\u{110cd}]$/u;

/** In text besides: the tab, and the two joiners that Persian, Indic scripts and emoji are written with. */
const TEXT_ONLY = /^[\t\u{200c}\u{200d}]$/u;

/** `\x1b` for a code point of up to two hex digits, `\u{202e}` for any other. */
const spelled = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code <= 0xff ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
};

/**
 * `words` with nothing in it that a terminal would obey or hide. A line feed is spelled out like any other
 * control: callers split lines first. Empty stays empty. Linear.
 *
 * @param place - a name is stricter: no tab, no joiner
 * @example visible('a\u001b[2Jb', 'text') // 'a\\x1b[2Jb'
 */
export function visible(words: string, place: Place): string {
  return words.replace(INVISIBLE, (character) =>
    VISIBLE_FORMATS.test(character) || (place === 'text' && TEXT_ONLY.test(character)) ? character : spelled(character),
  );
}

/** The few things that have a colour. Each takes words that are already visible, and gives them back painted. */
export interface Palette {
  readonly path: (words: string) => string;
  readonly line: (words: string) => string;
  readonly hit: (words: string) => string;
  readonly refusal: (words: string) => string;
  readonly aside: (words: string) => string;
}

const sgr =
  (parameters: string) =>
  (words: string): string =>
    words === '' ? '' : `\u001b[${parameters}m${words}\u001b[0m`;
const plain = (words: string): string => words;

const PAINTED: Palette = {
  path: sgr('35'),
  line: sgr('32'),
  hit: sgr('1;31'),
  refusal: sgr('31'),
  aside: sgr('2'),
};
const UNPAINTED: Palette = { path: plain, line: plain, hit: plain, refusal: plain, aside: plain };

/** The palette of a stream: colours, or every word as it is. */
export const palette = (inColour: boolean): Palette => (inColour ? PAINTED : UNPAINTED);

/**
 * Whether a stream gets colours: it is a terminal, nobody said no (`--no-color`, or NO_COLOR that is not
 * empty: no-color.org), and the terminal knows them.
 */
export function wantsColour(
  isTerminal: boolean,
  allowed: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTerminal && allowed && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}

/** `line` made visible, with every occurrence of `needle` painted as a hit. An empty needle paints nothing. Linear. */
export function highlighted(line: string, needle: string, colours: Palette): string {
  if (needle === '') return visible(line, 'text');
  return line
    .split(needle)
    .map((part) => visible(part, 'text'))
    .join(colours.hit(visible(needle, 'text')));
}

/** JSON is text too: the same value, with what a terminal would obey written as `\u001b`. For a terminal only. */
export function visibleJson(json: string): string {
  return json.replace(INVISIBLE, (character) =>
    VISIBLE_FORMATS.test(character)
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join(''),
  );
}
