/**
 * One writer a log: a lock file beside it that says which process writes. Beside file.ts, which takes it before it opens
 * the log and asks it again before each append. Made for a crash at any moment: a lock whose process is gone is taken over.
 */

import { createHash } from 'node:crypto';
import { link, readFile, readlink, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ReceiptError } from './record.js';

interface Holder {
  readonly pid: number;
  /** When that process started, as its system counts: a number is used again. Null where that is not known. */
  readonly start: string | null;
  /** The machine and, on Linux, the container: numbers of another one say nothing here. */
  readonly where: string;
}

/** A file beside the log that says who writes it. */
export class Lock {
  readonly #file: string;
  /** What it says. No two locks say the same: their inodes might be the same, for numbers are used again. */
  readonly #says: string;

  private constructor(file: string, says: string) {
    this.#file = file;
    this.#says = says;
  }

  /**
   * Takes the lock of this name. Throws a `ReceiptError` that says who holds it, or why it cannot be made.
   * Two that take it at once: one has it, and the other is refused.
   */
  static async take(file: string): Promise<Lock> {
    const id = crypto.randomUUID();
    const says = JSON.stringify({ pid: process.pid, start: await startOf(process.pid), where: await here(), id });
    const made = `${file}.${id}`;
    try {
      await writeFile(made, says, { flag: 'wx', mode: 0o600 });
      // Linked whole: nobody ever sees a lock that does not say whose it is.
      while (!(await linked(made, file))) await removeStale(file);
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

  /** Removes it, if it is still this one. */
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

/**
 * Takes away the lock of a process that is gone; refuses if it may not be. Whoever removes it holds a lock of its own,
 * named by what the stale one says: nobody else can then have put another in its place between the look and the removal.
 */
async function removeStale(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  if (text === undefined) return;
  const why = await whyHeld(text);
  if (why !== undefined) throw new ReceiptError(`the log has a writer: ${why} (${file})`);
  const turn = await Lock.take(`${file}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`);
  try {
    if ((await readFile(file, 'utf8').catch(ignoreMissing)) === text) await unlink(file).catch(ignoreMissing);
  } finally {
    await turn.release();
  }
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

/** What the system's codes mean of a log or a key, and what to do: whoever reads it has a file before them and no manual. */
const SYSTEM_SENTENCES: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or directory (ENOENT): check the path, and make its directory if that is missing'],
  ['EACCES', 'the system does not permit it (EACCES): have its owner give this user access, or name another file'],
  ['EPERM', 'the system does not permit it (EPERM): have its owner give this user access, or name another file'],
  ['EISDIR', 'it is a directory (EISDIR): name the file in it'],
  ['ENOTDIR', 'its path leads through a file (ENOTDIR): check the path'],
  ['EROFS', 'its file system is read-only (EROFS): name a file on another one'],
  ['ENOSPC', 'the disk is full (ENOSPC): make room and try again'],
]);

/** A system error as a `ReceiptError` with the file, what it means and what to do; anything else as it is. */
export function asFileError(error: unknown, file: string): unknown {
  const code = (error as { code?: unknown } | null)?.code; // a system error has one
  if (typeof code !== 'string') return error;
  const sentence = SYSTEM_SENTENCES.get(code) ?? `it failed (${code}): try again, and if it stays so look at the disk`;
  return new ReceiptError(`${file}: ${sentence}`, { cause: error });
}
