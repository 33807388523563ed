/** The words of the house: each file says first what it is for, and each export of the host what it promises. */

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** Files of TypeScript below a directory, from the repository's root. */
const filesUnder = (root: string): string[] =>
  fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.posix.join(root, name.replaceAll('\\', '/')));

const beginsWithWords = (text: string): boolean => /^(#!.*\n)?(\/\*\*|\/\/)/.test(text);

/** Exports that are declared without a docstring before them; what is only passed on has its own where it is made. */
function wordless(text: string): string[] {
  const lines = text.split('\n');
  return lines.filter((line, index) => {
    if (!/^export (?!type \{|\{|\*)/.test(line)) return false;
    let before = index - 1;
    while (lines[before]?.startsWith('// biome-ignore')) before--;
    return !lines[before]?.endsWith('*/');
  });
}

describe('every file', () => {
  const files = ['host', 'guest', 'test'].flatMap(filesUnder);

  it('is looked at', () => {
    expect(files.length).toBeGreaterThan(150);
  });

  it('says in its first lines what it is for', () => {
    expect(files.filter((file) => !beginsWithWords(fs.readFileSync(file, 'utf8')))).toEqual([]);
  });
});

describe('every export of the host', () => {
  it.each(filesUnder('host'))('says what it promises: %s', (file) => {
    expect(wordless(fs.readFileSync(file, 'utf8'))).toEqual([]);
  });
});

describe('this test itself', () => {
  it.each<[string, boolean]>([
    ['/** For this. */\n', true],
    ['#!/usr/bin/env node\n// For this.\n', true],
    ["import x from 'y';\n", false],
    ['', false],
  ])('sees whether a file begins with words: %j', (text, begins) => {
    expect(beginsWithWords(text)).toBe(begins);
  });

  it.each<[string, string[]]>([
    ['export const a = 1;', ['export const a = 1;']],
    ['/** One. */\nexport const a = 1;\nexport const b = 2;', ['export const b = 2;']],
    ['/** One. */\n// biome-ignore lint/x: why\nexport type A = 1;', []],
    ["export { a } from './a.js';\nexport type { B };\nexport * from './c.js';", []],
    ['const a = 1;', []],
  ])('sees an export without words: %j', (text, found) => {
    expect(wordless(text)).toEqual(found);
  });
});
