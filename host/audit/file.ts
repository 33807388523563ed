/**
 * A receipt log in a file: the sink of the command line, and of embedders who want no other. The last stop of a
 * receipt. One writer a file (file-lock.ts), appended and synced before an answer leaves; a full file is put aside
 * under a number and the next one goes on from its head.
 */

import { type FileHandle, open, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { RECEIPT_FILE_MAX_BYTES, RECEIPT_KEY_BYTES, RECEIPT_LINE_MAX_BYTES } from '../limits.js';
import { asFileError, Lock } from './file-lock.js';
import type { KeptSink, Standing } from './log.js';
import { type Digester, digester, endsLikeLine, KEY_IN_WORDS, ReceiptError, readLine } from './record.js';
import { type Verified, type VerifyOptions, verifyLog } from './verify.js';

/** How the file is kept. */
export interface FileSinkOptions {
  /** Bytes after which the file is put aside. Default RECEIPT_FILE_MAX_BYTES. */
  readonly maxBytes?: number;
}

/**
 * Opens a log to write, or begins it. Held until `close`: a second writer, in this process or another, is refused with
 * a `ReceiptError`; the lock of one that is gone is taken over.
 */
export async function openReceiptFile(file: string, options: FileSinkOptions = {}): Promise<ReceiptFile> {
  const lock = await Lock.take(`${file}.lock`);
  try {
    const handle = await openLog(file);
    return new ReceiptFile(file, lock, handle, options.maxBytes ?? RECEIPT_FILE_MAX_BYTES, await digester());
  } catch (error) {
    await lock.release();
    throw asFileError(error, file);
  }
}

/** A log in a file, open to write: a sink that can say where it stands. Made by `openReceiptFile`. */
export class ReceiptFile implements KeptSink {
  readonly #file: string;
  readonly #lock: Lock;
  readonly #maxBytes: number;
  readonly #plain: Digester;
  #handle: FileHandle;
  /** Bytes the file has if nobody else writes to it. */
  #sizeBytes = 0;
  /** Whether it ends within a line: then the next one begins with a newline. */
  #isUnended = false;

  constructor(file: string, lock: Lock, handle: FileHandle, maxBytes: number, plain: Digester) {
    this.#file = file;
    this.#lock = lock;
    this.#handle = handle;
    this.#maxBytes = maxBytes;
    this.#plain = plain;
  }

  /** Reads the tail of the file: costs the same for a log of any size. Throws a `ReceiptError` if it is none. */
  async stand(): Promise<Standing> {
    const { size } = await this.#handle.stat();
    const tail = await tailOf(this.#handle, size, this.#plain);
    if (tail === 'nothing whole') {
      // The very first append was cut: nothing was ever acknowledged here.
      await this.#handle.truncate(0);
      return this.#stands(0, false, { last: null, torn: null, before: await this.#lastAside() });
    }
    if (tail === 'no log') throw new ReceiptError(`${this.#file} does not end as a receipt log does: verify it`);
    const { last, torn, isUnended } = tail;
    return this.#stands(size, isUnended, { last, torn, before: last === null ? await this.#lastAside() : null });
  }

  #stands(sizeBytes: number, isUnended: boolean, standing: Standing): Standing {
    this.#sizeBytes = sizeBytes;
    this.#isUnended = isUnended;
    return standing;
  }

  isFull(): boolean {
    return this.#sizeBytes >= this.#maxBytes;
  }

  async append(lines: string): Promise<void> {
    await this.#lock.check();
    const { size } = await this.#handle.stat();
    if (size !== this.#sizeBytes) throw new ReceiptError(`${this.#file} was changed by somebody else`);
    const bytes = Buffer.from(this.#isUnended ? `\n${lines}` : lines);
    await this.#handle.appendFile(bytes);
    await this.#handle.datasync();
    this.#sizeBytes += bytes.length;
    this.#isUnended = false;
  }

  async turn(): Promise<void> {
    await this.#lock.check();
    const numbers = await numbersAside(this.#file);
    await rename(this.#file, aside(this.#file, (numbers.at(-1) ?? 0) + 1));
    await this.#handle.close();
    this.#handle = await openLog(this.#file);
    this.#stands(0, false, { last: null, torn: null, before: null });
  }

  /** Gives the file back. Twice is once. */
  async close(): Promise<void> {
    await this.#handle.close();
    await this.#lock.release();
  }

  /** The last line of the file put aside last. */
  async #lastAside(): Promise<Uint8Array | null> {
    const number = (await numbersAside(this.#file)).at(-1);
    if (number === undefined) return null;
    const name = aside(this.#file, number);
    const handle = await open(name, 'r');
    try {
      const tail = await tailOf(handle, (await handle.stat()).size, this.#plain);
      if (typeof tail === 'string' || tail.last === null || tail.torn !== null) {
        throw new ReceiptError(`${name} does not end as a receipt log does: verify it`);
      }
      return tail.last;
    } finally {
      await handle.close();
    }
  }
}

/** Verifies files, in the order given. Throws a `ReceiptError` for one that does not open. */
export async function verifyFiles(files: readonly string[], options: VerifyOptions = {}): Promise<Verified> {
  return verifyLog(
    files.map((name) => ({ name, chunks: chunksOf(name) })),
    options,
  );
}

/** A file's bytes, opened when they are asked for. Each chunk is gone when the next one is. */
async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    const buffer = Buffer.allocUnsafe(TAIL_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw asFileError(error, file);
  } finally {
    await handle?.close();
  }
}

/** A key of RECEIPT_KEY_BYTES, from a file that holds them as they are or as hex digits. Else a `ReceiptError`. */
export async function readReceiptKey(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw asFileError(error, file);
  });
  if (bytes.length === RECEIPT_KEY_BYTES) return bytes;
  const digits = bytes.toString('latin1').trim();
  if (digits.length !== 2 * RECEIPT_KEY_BYTES || !/^[0-9a-fA-F]+$/.test(digits)) {
    throw new ReceiptError(`${file} is not a key: ${KEY_IN_WORDS}`);
  }
  return Buffer.from(digits, 'hex');
}

// ---- names ----

const aside = (file: string, number: number): string => `${file}.${String(number).padStart(6, '0')}`;

async function numbersAside(file: string): Promise<number[]> {
  const start = `${path.basename(file)}.`;
  const names = await readdir(path.dirname(file));
  return names
    .filter((name) => name.startsWith(start) && /^\d{6,}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((a, b) => a - b);
}

/** Only the owner reads it: whom a tenant asked about is nobody else's business. */
async function openLog(file: string): Promise<FileHandle> {
  const handle = await open(file, 'a+', 0o600);
  try {
    if (!(await handle.stat()).isFile()) throw new ReceiptError(`${file} is not a regular file`);
    await syncDirectory(path.dirname(file));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A file that was just made survives a crash only once its directory is written too. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return; // directories do not open there
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// ---- the tail ----

interface Tail {
  readonly last: Uint8Array | null;
  readonly torn: Standing['torn'];
  readonly isUnended: boolean;
}

const TAIL_BYTES = 4 * RECEIPT_LINE_MAX_BYTES;
const NEWLINE = 0x0a;

/** How a file ends: in a line, in the beginning of one, in the beginning of its first, or in something else. */
async function tailOf(handle: FileHandle, size: number, plain: Digester): Promise<Tail | 'nothing whole' | 'no log'> {
  const start = Math.max(0, size - TAIL_BYTES);
  const bytes = Buffer.alloc(size - start);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
  if (bytesRead !== bytes.length) throw new Error('the log was cut while it was read');
  if (size === 0) return { last: null, torn: null, isUnended: false };
  const isUnended = bytes.at(-1) !== NEWLINE;
  let end = isUnended ? bytes.length : bytes.length - 1;
  for (;;) {
    const newline = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
    const line = bytes.subarray(newline + 1, end);
    const isWholeStart = newline >= 0 || start === 0;
    if (isWholeStart && readLine(line, plain) !== undefined) {
      return { last: line, torn: tornIn(bytes.subarray(end + 1), plain), isUnended };
    }
    // A line that was changed is not torn: nothing is added behind it.
    if (endsLikeLine(line) && end < bytes.length) return 'no log';
    if (newline < 0) return start === 0 && isUnended && beginsFirst(line) ? 'nothing whole' : 'no log';
    end = newline;
  }
}

/** How every first line begins, `x` for a hexadecimal digit. */
const FIRST = `{"log":"${'x'.repeat(32)}","seq":0,"time":"`;

/** Whether these are bytes of a first line that was cut: what begins otherwise is somebody's, and is not taken away. */
const beginsFirst = (line: Buffer): boolean =>
  Array.from(line.toString('latin1', 0, FIRST.length)).every((character, index) =>
    FIRST[index] === 'x' ? /[0-9a-f]/.test(character) : character === FIRST[index],
  );

const tornIn = (bytes: Uint8Array, plain: Digester): Standing['torn'] =>
  bytes.length === 0 ? null : { bytes: bytes.length, hash: plain(bytes) };
