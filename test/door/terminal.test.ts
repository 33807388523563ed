/** What may be sent to a terminal: each class of character, as a row with the harm it would do. */

import { describe, expect, test } from 'vitest';
import { highlighted, palette, visible, visibleJson, wantsColour } from '../../dist/door/terminal.js';

interface Row {
  readonly words: string;
  readonly name: string;
  readonly text: string;
  readonly why: string;
}

const ROWS: readonly Row[] = [
  { words: '', name: '', text: '', why: 'nothing stays nothing' },
  { words: 'docs/notes.md', name: 'docs/notes.md', text: 'docs/notes.md', why: 'plain words are untouched' },
  { words: '潮位 é 🙂', name: '潮位 é 🙂', text: '潮位 é 🙂', why: 'other scripts are visible text' },
  { words: 'a\u001b[2Jb', name: 'a\\x1b[2Jb', text: 'a\\x1b[2Jb', why: 'ESC starts every escape sequence' },
  { words: '\u009b2J', name: '\\x9b2J', text: '\\x9b2J', why: 'CSI in one character, obeyed by some terminals' },
  { words: '\u0007\u0000\u007f', name: '\\x07\\x00\\x7f', text: '\\x07\\x00\\x7f', why: 'bell, NUL, DEL' },
  { words: 'a\rb', name: 'a\\x0db', text: 'a\\x0db', why: 'a lone CR lets a line overwrite itself' },
  { words: 'a\nb', name: 'a\\x0ab', text: 'a\\x0ab', why: 'a name with a newline forges a line of output' },
  { words: 'a\tb', name: 'a\\x09b', text: 'a\tb', why: 'source code is written with tabs, names are not' },
  { words: 'a\u202egpj', name: 'a\\u{202e}gpj', text: 'a\\u{202e}gpj', why: 'RLO: agpj reads as ajpg' },
  { words: '\u2066\u2069', name: '\\u{2066}\\u{2069}', text: '\\u{2066}\\u{2069}', why: 'isolates reorder source' },
  {
    words: '\u200e\u061c',
    name: '\\u{200e}\\u{61c}',
    text: '\\u{200e}\\u{61c}',
    why: 'marks of direction reorder too',
  },
  { words: 'a\u200bb', name: 'a\\u{200b}b', text: 'a\\u{200b}b', why: 'a zero-width space makes two names look one' },
  {
    words: '.g\u200cit',
    name: '.g\\u{200c}it',
    text: '.g\u200cit',
    why: 'Persian text needs ZWNJ; a name may hide it',
  },
  { words: '\ufeffa', name: '\\u{feff}a', text: '\\u{feff}a', why: 'a byte order mark is there and not seen' },
  { words: '\u00ad', name: '\\xad', text: '\\xad', why: 'a soft hyphen is seen only where a line breaks' },
  { words: '\u{e0041}', name: '\\u{e0041}', text: '\\u{e0041}', why: 'tag characters spell hidden sentences' },
  { words: 'a\u2028b', name: 'a\\u{2028}b', text: 'a\\u{2028}b', why: 'a line end to some readers, not to our tools' },
  { words: '\ud800', name: '\\u{d800}', text: '\\u{d800}', why: 'half a pair has no UTF-8' },
  { words: '\u0600\u06dd', name: '\u0600\u06dd', text: '\u0600\u06dd', why: 'format characters that are ink stay' },
  { words: '\\x1b', name: '\\x1b', text: '\\x1b', why: 'a file that spells it out is shown as it is' },
];

describe('visible', () => {
  test.each(ROWS)('$why', ({ words, name, text }) => {
    expect(visible(words, 'name')).toBe(name);
    expect(visible(words, 'text')).toBe(text);
  });

  test('lets no control character of any plane through, but for the tab in text', () => {
    const controls = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
      /\p{Cc}|\p{Bidi_Control}/u.test(character),
    );
    expect(controls.length).toBeGreaterThanOrEqual(65 + 12);
    expect(controls.filter((character) => visible(character, 'name') === character)).toEqual([]);
    expect(controls.filter((character) => visible(character, 'text') === character)).toEqual(['\t']);
  });
});

describe('highlighted', () => {
  const colours = palette(true);
  test('paints every occurrence and makes what is between them visible', () => {
    expect(highlighted('a\u001bxxbx', 'x', colours)).toBe(
      'a\\x1b\u001b[1;31mx\u001b[0m\u001b[1;31mx\u001b[0mb\u001b[1;31mx\u001b[0m',
    );
  });
  test('makes a needle that is itself an escape sequence visible', () => {
    expect(highlighted('a\u001b[2Jb', '\u001b[2J', palette(false))).toBe('a\\x1b[2Jb');
  });
  test('an empty needle paints nothing', () => {
    expect(highlighted('ab', '', colours)).toBe('ab');
  });
  test('a line without the needle (its hit was cut away) is shown as it is', () => {
    expect(highlighted('ab', 'z', colours)).toBe('ab');
  });
});

test('visibleJson changes how a value is written, never the value', () => {
  const value = { 'na\u009bme': ['\u202e', '\u{e0041}', 'a\tb\n', '潮\u0600'] };
  const shown = visibleJson(JSON.stringify(value));
  expect(JSON.parse(shown)).toEqual(value);
  expect(shown).toBe('{"na\\u009bme":["\\u202e","\\udb40\\udc41","a\\tb\\n","潮\u0600"]}');
});

describe('wantsColour', () => {
  test.each([
    { terminal: true, allowed: true, environment: {}, wants: true, why: 'a terminal has colours' },
    { terminal: false, allowed: true, environment: {}, wants: false, why: 'a pipe has none' },
    { terminal: true, allowed: false, environment: {}, wants: false, why: '--no-color says no' },
    { terminal: true, allowed: true, environment: { NO_COLOR: '1' }, wants: false, why: 'NO_COLOR says no' },
    {
      terminal: true,
      allowed: true,
      environment: { NO_COLOR: '' },
      wants: true,
      why: 'an empty NO_COLOR says nothing',
    },
    { terminal: true, allowed: true, environment: { TERM: 'dumb' }, wants: false, why: 'a dumb terminal has none' },
  ])('$why', ({ terminal, allowed, environment, wants }) => {
    expect(wantsColour(terminal, allowed, environment)).toBe(wants);
  });
});
