/** Which text is one segment, and which spelling would show that a disk folds it. */

import fc from 'fast-check';
import { expect, it } from 'vitest';

import { isPlainAscii, isSegment, otherCase, shownText, strictText, utf8Bytes } from '../../dist/tree/names.js';

it('takes every name a file system can have, and nothing else', () => {
  const legal = [
    'a',
    ' ',
    '...',
    '.a',
    'a.',
    '\\',
    'C:',
    '\n',
    '\x7f',
    '\u00a0',
    '__proto__',
    'n'.repeat(255),
    '\u{1f600}'.repeat(63),
  ];
  const illegal = [
    '',
    '.',
    '..',
    '/',
    'a/',
    '/a',
    '\0',
    'a\0',
    '\ud800',
    '\udc00x',
    'n'.repeat(256),
    '\u{1f600}'.repeat(64),
  ];
  expect(legal.filter((name) => !isSegment(name))).toEqual([]);
  expect(illegal.filter((name) => isSegment(name))).toEqual([]);
});

it('counts bytes as the encoder does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
  for (const text of ['\ud800', '\udc00', '\ud800\ud800', '\udc00\ud800', 'a\ud83d\ude00\ud83d']) {
    expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
  }
});

it('decodes exactly what is UTF-8, a byte order mark included', () => {
  expect(strictText(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa');
  expect(strictText(new Uint8Array())).toBe('');
  for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe5, 0xad]]) {
    expect(strictText(Uint8Array.from(bytes))).toBeUndefined();
    expect(shownText(Uint8Array.from(bytes))).toContain('\ufffd');
  }
});

it('swaps the case of plain ASCII, and knows other names', () => {
  expect(otherCase('Vault.1')).toBe('vAULT.1');
  expect(otherCase('2024-01')).toBe('2024-01');
  const names = ['Vault.1', '2024-01', 'GIT~1', 'caf\u00e9', '.g\u200cit'];
  expect(names.filter(isPlainAscii)).toEqual(['Vault.1', '2024-01']);
});
