/**
 * Every sentence about what could not be looked at, decided on the function: so platforms which cannot create such
 * names or failures agree. Spec: search, the table of the walk; errors (no host path, no system message).
 */

import { describe, expect, it } from 'vitest';
import type { AddressRule } from '../../dist/judge/address.js';
import { RULE_SENTENCES } from '../../dist/judge/address.js';
import { DEPTH_MAX, DIR_ENTRIES_MAX, FILE_CAP_BYTES } from '../../dist/limits.js';
import { byCause, CAUSES, type Cause, causeOf, sizeInWords, whyUnread } from '../../dist/tools/unread.js';
import { ERROR_CODES, type ErrorCode } from '../../dist/wasi/codes.js';
import type { Reason } from '../../dist/wasi/filesystem.js';

const why = (code: ErrorCode, path = 'lab/x', reason?: Reason) => whyUnread(path, code, reason, FILE_CAP_BYTES);

const DEEP = Array.from({ length: DEPTH_MAX + 1 }, () => 'd').join('/');

/** Each cause, the codes that are it, and what is said of `lab/x` or of the path given. */
const ROWS: readonly [cause: Cause, codes: readonly ErrorCode[], sentence: string, path?: string][] = [
  ['too_large', ['file-too-large'], 'larger than 1 MiB; read it by interval with `read`'],
  ['name', ['illegal-byte-sequence'], 'its name is not an address: it is not UTF-8'],
  ['not_regular', ['unsupported'], 'not a regular file'],
  ['foreign', ['cross-device'], 'on another file system'],
  ['rules', ['not-recoverable'], 'its rules did not read: the reason is not kept'],
  ['link', ['loop'], 'E_STORAGE_FATAL: cannot search lab/x: its real location did not resolve'],
  ['vanished', ['no-entry'], 'it vanished since it was listed'],
  ['access', ['access'], 'the system does not permit opening it'],
  [
    'share',
    ['insufficient-space'],
    'it is over its share of one call; its rest was not looked at: search it, or rooms of it, by `path`',
  ],
  ['entries', ['overflow'], `it has more than ${DIR_ENTRIES_MAX} entries (DIR_ENTRIES_MAX)`],
  ['depth', ['name-too-long'], `deeper than ${DEPTH_MAX} directories (DEPTH_MAX)`, DEEP],
  ['disk', ['io', 'busy', 'not-directory', 'is-directory'], 'the disk did not answer'],
];

describe('why something is unread', () => {
  it.each(ROWS)('%s, of %j: %s', (cause, codes, sentence, path) => {
    for (const code of codes) {
      expect(causeOf(code)).toBe(cause);
      expect(why(code, path)).toBe(sentence);
    }
  });

  it('has a row for each cause, and a cause for each code there is', () => {
    expect(ROWS.map(([cause]) => cause)).toEqual([...CAUSES]);
    const named = new Set(ROWS.flatMap(([cause, codes]) => (cause === 'disk' ? [] : codes)));
    for (const code of ERROR_CODES) if (!named.has(code)) expect(causeOf(code)).toBe('disk');
  });

  it.each<[ErrorCode, Reason, string]>([
    ['cross-device', { code: 'cross-device', failure: 'other-mount' }, 'on another file system'],
    ['cross-device', { code: 'cross-device', failure: 'hard-link' }, 'more than one name leads to it'],
    ['io', { code: 'io', failure: 'io' }, 'the disk did not answer'],
    ['io', { code: 'io', failure: 'exhausted' }, 'the process has no more descriptors or memory'],
    [
      'not-recoverable',
      { code: 'not-recoverable', rules: 'mill/x: an unknown key' },
      'its rules did not read: mill/x: an unknown key',
    ],
    [
      'loop',
      { code: 'loop', rule: 'colon' },
      'E_INVALID_ARGS: cannot search lab/x: a link leads to a name that is no address: it contains a colon',
    ],
  ])('%s tells more where the host knows more (%j): %s', (code, reason, sentence) => {
    expect(why(code, 'lab/x', reason)).toBe(sentence);
  });

  it.each<[path: string, rule: AddressRule]>([
    ['lab/a\\b', 'backslash'],
    ['lab/a:b', 'colon'],
    ['lab/a\u0000', 'control'],
    ['lab/a\u007f', 'control'],
    ['lab/a\u0085', 'control'],
    ['lab/a.', 'trailing'],
    ['lab/a\u3000', 'trailing'],
    ['lab/a\\:', 'backslash'],
  ])('of the name %j says the first rule it breaks: %s', (path, rule) => {
    expect(why('illegal-byte-sequence', path)).toBe(`its name is not an address: ${RULE_SENTENCES[rule]}`);
  });

  it('of a name that is only not UTF-8, shown with U+FFFD, says that', () => {
    expect(why('illegal-byte-sequence', 'lab/\ufffd')).toBe('its name is not an address: it is not UTF-8');
  });

  it('names a link by its own address, cut to what a refusal may repeat', () => {
    const long = `lab/${'x'.repeat(900)}`;
    expect(why('loop', long)).toBe(
      `E_STORAGE_FATAL: cannot search ${long.slice(0, 512)}[truncated: 392 bytes]: its real location did not resolve`,
    );
  });
});

describe('counts by cause', () => {
  const counts = (given: Partial<Record<ErrorCode, number>>) => ERROR_CODES.map((code) => given[code] ?? 0);

  it('sums codes that are one cause, leaves out what did not occur, and loses none', () => {
    expect(byCause(counts({}))).toEqual({});
    expect(byCause(counts({ io: 1, busy: 2, loop: 3, access: 4 }))).toEqual({ link: 3, access: 4, disk: 3 });
    const all = byCause(ERROR_CODES.map(() => 1));
    expect(Object.values(all).reduce((sum, count) => sum + count, 0)).toBe(ERROR_CODES.length);
  });

  it('gives causes in one order, whatever was met first', () => {
    const all = Object.keys(byCause(ERROR_CODES.map((_, number) => number + 1)));
    expect(all).toEqual(CAUSES.filter((cause) => all.includes(cause)));
  });
});

describe('sizes in words', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 bytes'],
    [1_023, '1023 bytes'],
    [1_024, '1 KiB'],
    [1_025, '1025 bytes'],
    [65_536, '64 KiB'],
    [1_048_576, '1 MiB'],
    [1_572_864, '1536 KiB'],
    [8 * 2 ** 30, '8 GiB'],
  ])('%i is %s', (bytes, words) => {
    expect(sizeInWords(bytes)).toBe(words);
  });
});
