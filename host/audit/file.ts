/**
 * A receipt log in a file: the sink of the command line, and of embedders who want no other. The last stop of a
 * receipt, and the only room of `audit/` with `node:fs`. One writer a file, appended and synced before an answer
 * leaves; a full file is put aside under a number and the next one goes on from its head.
 */

import { type FileHandle, link, open, readdir, readFile, readlink, rename, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { RECEIPT_FILE_MAX_BYTES, RECEIPT_LINE_MAX_BYTES } from '../limits.js';
import type { KeptSink, Standing } from './log.js';
import { type Digester, digester, endsLikeLine, ReceiptError, readLine } from './record.js';
import { type Verified, type VerifyOptions, verifyLog } from './verify.js';

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

/** A key of 32 bytes, from a file that holds them as they are or as 64 hex digits. Else a `ReceiptError`. */
export async function readReceiptKey(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw asFileError(error, file);
  });
  if (bytes.length === 32) return bytes;
  const digits = bytes.toString('latin1').trim();
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new ReceiptError(`${file} is not a key: 32 bytes, or 64 hex digits`);
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

function asFileError(error: unknown, file: string): unknown {
  const code = (error as { code?: unknown } | null)?.code; // a system error has one
  return typeof code === 'string' ? new ReceiptError(`${file}: ${code}`, { cause: error }) : error;
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
    if (newline < 0)
      return start === 0 && isUnended && FIRST.startsWith(line.toString('latin1', 0, FIRST.length))
        ? 'nothing whole'
        : 'no log';
    end = newline;
  }
}

/** How every line begins. */
const FIRST = '{"log":"';

const tornIn = (bytes: Uint8Array, plain: Digester): Standing['torn'] =>
  bytes.length === 0 ? null : { bytes: bytes.length, hash: plain(bytes) };

// ---- one writer ----

interface Holder {
  readonly pid: number;
  /** When that process started, as its system counts: a number is used again. Null where that is not known. */
  readonly start: string | null;
  /** The machine and, on Linux, the container: numbers of another one say nothing here. */
  readonly where: string;
}

/** A file beside the log that says who writes it. */
class Lock {
  readonly #file: string;
  /** What it says. No two locks say the same: their inodes might be the same, for numbers are used again. */
  readonly #says: string;

  private constructor(file: string, says: string) {
    this.#file = file;
    this.#says = says;
  }

  static async take(file: string): Promise<Lock> {
    const id = crypto.randomUUID();
    const says = JSON.stringify({ pid: process.pid, start: await startOf(process.pid), where: await here(), id });
    const made = `${file}.${id}`;
    try {
      await writeFile(made, says, { flag: 'wx', mode: 0o600 });
      // Linked whole: nobody ever sees a lock that does not say whose it is.
      while (!(await linked(made, file))) await removeStale(file, made);
      return new Lock(file, says);
    } catch (error) {
      throw asFileError(error, file);
    } finally {
      await unlink(made).catch(ignoreMissing);
    }
  }

  /** Throws if the lock is not this one any more: then another may be writing. */
  async check(): Promise<void> {
    if (!(await this.#stands())) throw new ReceiptError(`${this.#file} was removed, or is somebody else's`);
  }

  async release(): Promise<void> {
    if (await this.#stands()) await unlink(this.#file).catch(ignoreMissing);
  }

  async #stands(): Promise<boolean> {
    return (await readFile(this.#file, 'utf8').catch(ignoreMissing)) === this.#says;
  }
}

async function linked(made: string, file: string): Promise<boolean> {
  try {
    await link(made, file);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Takes away the lock of a process that is gone; refuses if it may not be. */
async function removeStale(file: string, made: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  if (text === undefined) return;
  const why = await whyHeld(text);
  if (why !== undefined) throw new ReceiptError(`the log has a writer: ${why} (${file})`);
  // Moved before it is removed: another may have taken it over since it was read, and then it gets it back.
  const moved = `${made}.stale`;
  await rename(file, moved).catch(ignoreMissing);
  const wasStale = (await readFile(moved, 'utf8').catch(ignoreMissing)) === text;
  if (!wasStale) await linked(moved, file).catch(ignoreMissing);
  await unlink(moved).catch(ignoreMissing);
}

async function whyHeld(text: string): Promise<string | undefined> {
  const holder = holderOf(text);
  if (holder === undefined) return 'its lock does not say which; remove it once nobody writes';
  const { pid, start, where } = holder;
  if (where !== (await here())) {
    return `process ${pid} of another machine or container, which cannot be seen from here; remove the lock if it is gone`;
  }
  if (!isAlive(pid) || (start !== null && start !== (await startOf(pid)))) return undefined;
  return pid === process.pid ? 'this very process' : `process ${pid}`;
}

function holderOf(text: string): Holder | undefined {
  try {
    const { pid, start, where } = JSON.parse(text) as Partial<Record<keyof Holder, unknown>>; // any of it may be wrong
    const isHolder =
      Number.isSafeInteger(pid) && typeof where === 'string' && (start === null || typeof start === 'string');
    return isHolder ? { pid: Number(pid), start, where } : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: there, and somebody else's.
    return (error as { code?: unknown }).code !== 'ESRCH';
  }
}

/** The boot and the tick a process started at (proc_pid_stat(5), field 22), or null where there is no procfs. */
async function startOf(pid: number): Promise<string | null> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => null);
  const status = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  // The command's name stands in brackets and may hold anything, brackets too.
  const ticks = status?.slice(status.lastIndexOf(')') + 2).split(' ')[19];
  return boot === null || ticks === undefined ? null : `${boot.trim()} ${ticks}`;
}

async function here(): Promise<string> {
  const container = await readlink('/proc/self/ns/pid').catch(() => '');
  return `${hostname()} ${container}`;
}

function ignoreMissing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
}
