/**
 * The component as jco lifts it, against our lifting by hand: the two read the same records, so the layouts drawn in
 * guest/abi are the canonical ABI's, not just what our two ends agreed on.
 */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { instantiate } from '../../build/reference/guest.js';
import { aDirectory, aFile, CODE, type Directory, type File, INTERVAL, QUERY, refused, World } from './world.js';

class Stream {
  readonly #of: Directory;
  #at = 0;
  constructor(of: Directory) {
    this.#of = of;
  }
  readDirectoryEntry(): { type: string; name: string } | undefined {
    const next = this.#of.names[this.#at++];
    return next && { type: next[1].kind, name: next[0] };
  }
}

class Descriptor {
  readonly #of: File | Directory;
  constructor(of: File | Directory) {
    this.#of = of;
  }
  read(length: bigint, offset: bigint): [Uint8Array, boolean] {
    if (this.#of.is !== 'file') throw 'is-directory';
    const given = this.#of.bytes.subarray(Number(offset), Number(offset + length));
    return [given, Number(offset) + given.length === this.#of.bytes.length];
  }
  readDirectory(): Stream {
    if (this.#of.is !== 'directory') throw 'not-directory';
    return new Stream(this.#of);
  }
  openAt(_: unknown, name: string, how: { directory?: boolean }): Descriptor {
    if (this.#of.is !== 'directory') throw 'not-directory';
    const place = this.#of.names.find(([listed]) => listed === name)?.[1];
    const opened = place === undefined ? 'no-entry' : how.directory ? place.directory : place.file;
    if (typeof opened === 'string') throw opened; // jco's spelling of a WIT `err`
    return new Descriptor(opened);
  }
}

function reference(root: Directory, prefix: string) {
  const imports = {
    'wasi:filesystem/preopens': { getDirectories: () => [[new Descriptor(root), prefix]] },
    'wasi:filesystem/types': { Descriptor, DirectoryEntryStream: Stream },
  };
  const core = (path: string) => new WebAssembly.Module(readFileSync(`build/reference/${path}`));
  // The generated code reads the keys without a version, its types say with one.
  return instantiate(core, imports as unknown as Parameters<typeof instantiate>[1], (module, given) => {
    return new WebAssembly.Instance(module, given);
  });
}

const root = aDirectory({
  'a.txt': aFile('one needle\r\ntwo\n中 needle'),
  lab: aDirectory({
    x: aFile(`${'é'.repeat(400)}needle${'é'.repeat(400)}`),
    '.git': aFile(''),
    gone: refused('no-entry'),
  }),
  link: refused('not-permitted', 'symbolic-link'),
  '\0b\ufffd': aFile(''),
  gbk: aFile(Buffer.concat([Buffer.from('needle'), Buffer.of(0xc4, 0xe3)])),
}).directory as Directory; // just made as one

describe('through jco’s glue and by hand', () => {
  test.each([1, 1_024])('a search gives the same pages, %i names a page', (pageEntries) => {
    const query = { ...QUERY, context: 1, pageEntries };
    const [guest, world] = [reference(root, 'hall'), new World(root, 'hall')];
    let [page, ours] = [guest.search(query), world.search(query)];
    for (; ; [page, ours] = [guest.more(), world.more()]) {
      expect(page.hits).toEqual(ours.hits);
      expect(page.unread.map(({ path, cause }) => ({ path, cause: CODE[cause as keyof typeof CODE] }))).toEqual(
        ours.unread,
      );
      expect({ ...page.coverage, causes: [...page.coverage.causes] }).toEqual(ours.coverage);
      expect(page.ending).toBe(ours.ending);
      if (ours.ending !== 'paused') break;
    }
    expect(ours.coverage).toMatchObject({ looked: 3, directories: 2, links: 1, reserved: 1, notText: 1 });
  });

  test.each([
    [{}],
    [{ offset: 1n, limit: 1 }],
    [{ lineCap: 5 }],
    [{ byte: 99n }],
    [{ offset: 2n, byte: 1n }],
    [{ pageBytes: 1 }],
    [{ whole: false, limit: 1 }],
  ])('a reading gives the same record: %o', (asked) => {
    const ask = { ...INTERVAL, ...asked };
    for (const name of ['a.txt', 'gbk', 'gone']) {
      const guest = reference(root, '');
      let reading = guest.read({ name, ...ask });
      while (reading.tag === 'going') reading = guest.next();
      const ours = new World(root).readAll(name, ask);
      expect(reading.tag).toBe(ours.is);
      if (reading.tag === 'done' && ours.is === 'done') {
        const { text, cut, ...rest } = reading.val;
        expect({ ...rest, ...(cut && { cut }) }).toEqual({ ...ours, is: undefined, text: undefined });
        expect(text).toBe(Buffer.from(ours.text).toString());
      } else if (reading.tag === 'not-text' && ours.is === 'not-text') expect(reading.val).toBe(ours.looks);
      else if (reading.tag === 'failed' && ours.is === 'failed') expect(reading.val).toBe('no-entry');
    }
  });
});
