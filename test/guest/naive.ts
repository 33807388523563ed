/**
 * What `search` and `read` mean, the slow and obvious way: whole strings of bytes, no paging, no chunks. The guest is
 * compared with this; it is itself compared with answers written by hand (naive.test in search.test.ts and read.test.ts).
 */

import {
  type Answer,
  CODE,
  type Coverage,
  type Directory,
  type Hit,
  type Interval,
  type Place,
  type Query,
  type Reading,
  type Unread,
} from './world.js';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes as a string of the same length, one character a byte: what JavaScript can search and cut. */
export const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const utf8 = (text: string): string => strict.decode(Buffer.from(text, 'latin1'));

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The lines' text: split at LF, one CR before an LF dropped, nothing behind a last LF. */
export function textLines(content: string): string[] {
  const parts = content.split('\n');
  const last = parts.pop() ?? '';
  return [...parts.map((line) => line.replace(/\r$/, '')), ...(last === '' ? [] : [last])];
}

const marker = (bytes: number): string => (bytes > 0 ? `[truncated: ${bytes} bytes]` : '');
const isInside = (line: string, at: number): boolean => at < line.length && (line.charCodeAt(at) & 0xc0) === 0x80;

function cut(line: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (isInside(line, start)) start++;
  while (end > from && isInside(line, end)) end--;
  end = Math.max(start, end);
  return marker(start) + line.slice(start, end) + marker(line.length - end);
}

export function around(line: string, match: number, cap: number): string {
  if (line.length <= cap) return line;
  const start = Math.min(Math.max(match - Math.floor(cap / 2), 0), line.length - cap);
  return cut(line, start, start + cap);
}

export function headOf(line: string, cap: number): string {
  return line.length <= cap ? line : cut(line, 0, cap);
}

const FORBIDDEN = /[\p{Cc}/\\:]/u;
const isSegment = (name: string): boolean =>
  name !== '' && !FORBIDDEN.test(name) && !name.endsWith('.') && !/\p{White_Space}$/u.test(name);

class Stop {
  readonly ending: Answer['ending'];
  constructor(ending: Answer['ending']) {
    this.ending = ending;
  }
}
class OverShare {}

export function naiveSearch(root: Directory, prefix: string, query: Query): Answer {
  const hits: Hit[] = [];
  const unread: Unread[] = [];
  const causes: number[] = Array(37).fill(0);
  const coverage = { looked: 0, directories: 0, links: 0, reserved: 0, notText: 0 };
  const needle = Buffer.from(query.text).toString('latin1');
  let textBytes = 0;

  const fail = (path: string, code: number): void => {
    causes[code] = (causes[code] ?? 0) + 1;
    if (unread.length < query.unreadShown) unread.push({ path, cause: code });
  };
  const settle = (path: string, code: keyof typeof CODE): void => {
    if (code === 'quota') throw new Stop('budget');
    if (code === 'insufficient-space') throw new OverShare();
    if (code === 'not-permitted') coverage.links++;
    else fail(path, CODE[code]);
  };
  const join = (directory: string, name: string): string => (directory === '' ? name : `${directory}/${name}`);

  const scan = (path: string, bytes: Uint8Array): void => {
    coverage.looked++;
    const lines = textLines(latin(bytes));
    let known = false;
    for (const [number, line] of lines.entries()) {
      const match = line.indexOf(needle);
      if (match < 0) continue;
      if (!known && !isUtf8(bytes)) {
        coverage.notText++;
        return;
      }
      known = true;
      if (hits.length >= query.matchCap) throw new Stop('matches');
      const first = Math.max(0, number - query.context);
      const block = lines
        .slice(first, number + query.context + 1)
        .map((other, index) =>
          first + index === number ? around(other, match, query.lineCap) : headOf(other, query.lineCap),
        )
        .join('\n');
      if (textBytes + block.length <= query.textCap) {
        textBytes += block.length;
        hits.push({ path, line: number, text: utf8(block) });
        continue;
      }
      if (hits.length === 0) hits.push({ path, line: number, text: utf8(headOf(block, query.textCap)) });
      throw new Stop('text');
    }
  };

  /** Takes up a directory that was opened. */
  const enter = (path: string, directory: Directory, isStart: boolean): void => {
    const code = directory.listFails ?? directory.failsAfter?.[1];
    if (code !== undefined) {
      if (!isStart || code === 'quota' || code === 'insufficient-space') return settle(path, code);
      return fail(path === '' ? '.' : path, CODE[code]);
    }
    coverage.directories++;
    const shown = directory.names.map(([name, place]) => {
      const isUnnameable = name.startsWith('\0');
      return { name: isUnnameable ? name.slice(1) : name, isUnnameable, place };
    });
    shown.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || +a.isUnnameable - +b.isUnnameable);
    for (const { name, isUnnameable, place } of shown) {
      const below = join(path, name);
      if (path !== '') takeUp(below, name, isUnnameable, place);
      else sharing(below, () => takeUp(below, name, isUnnameable, place));
    }
  };
  const sharing = (building: string, work: () => void): void => {
    try {
      work();
    } catch (stop) {
      if (!(stop instanceof OverShare)) throw stop;
      fail(building, CODE['insufficient-space']);
    }
  };
  const takeUp = (path: string, name: string, isUnnameable: boolean, place: Place): void => {
    if (isUnnameable || !isSegment(name)) return fail(path, CODE['illegal-byte-sequence']);
    if (/^\.(git|sprawling)$/i.test(name)) {
      coverage.reserved++;
      return;
    }
    const { kind, file, directory } = place;
    const isNone = directory === 'not-directory' || directory === 'loop';
    if (kind === 'directory' && !isNone) {
      return typeof directory === 'string' ? settle(path, directory) : enter(path, directory, false);
    }
    if (file === 'is-directory') {
      if (kind === 'symbolic-link' || isNone) coverage.links++;
      else if (typeof directory === 'string') settle(path, directory);
      else enter(path, directory, false);
      return;
    }
    if (file === 'no-entry' && kind === 'symbolic-link') return fail(path, CODE.loop);
    if (typeof file === 'string') return settle(path, file);
    if (file.failsAt !== undefined) return settle(path, file.failsAt[1]);
    if (file.bytes.length > query.fileCap) return fail(path, CODE['file-too-large']);
    scan(path, file.bytes);
  };

  let ending: Answer['ending'] = 'complete';
  try {
    const start = (): void => {
      if (query.only === undefined) return enter(prefix, root, true);
      const place = root.names.find(([name]) => name === query.only)?.[1];
      const anyKind: Place = {
        kind: 'unknown',
        file: place?.file ?? 'no-entry',
        directory: place?.directory ?? 'no-entry',
      };
      const path = join(prefix, query.only);
      const work = (): void => takeUp(path, query.only ?? '', false, anyKind);
      if (prefix === '') sharing(path, work);
      else work();
    };
    if (prefix === '') start();
    else sharing(prefix.split('/')[0] ?? '', start);
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop;
    ending = stop.ending;
  }
  const result: Coverage = { ...coverage, causes };
  return { hits, unread, coverage: result, ending };
}

export function naiveRead(bytes: Uint8Array, ask: Interval): Reading {
  if (!isUtf8(bytes)) return { is: 'not-text', looks: 'unknown' };
  const lines = latin(bytes).match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const [offset, byte] = [Number(ask.offset), Number(ask.byte)];
  const line = lines[offset];
  if (byte > 0) {
    if (line === undefined || byte >= line.length) return { is: 'past-line' };
    if (isInside(line, byte)) return { is: 'inside-character' };
  }
  const totalLines = BigInt(lines.length);
  const done = (text: string, taken: number, more: boolean): Reading => ({
    is: 'done',
    text: new Uint8Array(Buffer.from(text, 'latin1')),
    lines: taken,
    totalLines,
    more,
  });
  if (line === undefined) return done('', 0, false);
  const first = line.slice(byte);
  if (first.length > ask.lineCap) {
    let end = ask.lineCap;
    while (isInside(first, end)) end--;
    const cut = { nextByte: BigInt(byte + end), cutBytes: BigInt(first.length - end) };
    return { ...done(first.slice(0, end), 0, true), cut } as Reading; // `done` has no cut to widen
  }
  let text = first;
  let taken = 1;
  for (const next of lines.slice(offset + 1, offset + ask.limit)) {
    if (text.length + next.length > ask.textCap) break;
    text += next;
    taken++;
  }
  return done(text, taken, offset + taken < lines.length);
}
