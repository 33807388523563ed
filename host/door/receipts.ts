/**
 * `portcullis audit verify`: a verdict about a log of receipts, for people and as JSON. Beside the path of a call, which
 * only writes such logs; the judging is in audit/verify.ts.
 *
 * Exit status: 0 the log is intact, 1 it is not, 2 it could not be looked at.
 */

import type { openReceiptFile, readReceiptKey, verifyFiles } from '../audit/file.js';
import { ReceiptError } from '../audit/record.js';
import type { Verified } from '../audit/verify.js';
import { visible, visibleJson } from './terminal.js';

const EXIT = { intact: 0, notIntact: 1, notLookedAt: 2 } as const;

/** Logs and keys, as the command reaches them. */
export interface ReceiptFiles {
  readonly open: typeof openReceiptFile;
  readonly readKey: typeof readReceiptKey;
  readonly verify: typeof verifyFiles;
}

/** The words behind `audit verify`. */
export interface VerifyOptions {
  readonly head?: string;
  readonly key?: string;
  readonly json?: true;
}

interface Written {
  readonly isTerminal: boolean;
  write(words: string): Promise<void>;
}

/** Verifies the files, says what came of it, and gives the exit status. */
export async function verify(
  files: readonly string[],
  { head, key, json }: VerifyOptions,
  { receipts, out, err }: { readonly receipts: ReceiptFiles; readonly out: Written; readonly err: Written },
): Promise<number> {
  try {
    const bytes = key === undefined ? undefined : await receipts.readKey(key);
    const verified = await receipts.verify(files, { head, key: bytes });
    const isIntact = verified.verdict === 'intact';
    const line = JSON.stringify({ intact: isIntact, ...verified });
    await out.write(json ? `${out.isTerminal ? visibleJson(line) : line}\n` : inWords(verified));
    return isIntact ? EXIT.intact : EXIT.notIntact;
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    await err.write(`portcullis: ${visible(error.message, 'name')}\n`);
    return EXIT.notLookedAt;
  }
}

/** A verdict for people: the first word is the verdict, and the last line what it is worth. */
function inWords(verified: Verified): string {
  const { lines, logs, head, seq, torn, lost, previous, since_head } = verified;
  const held = `${counted(lines, 'line')} in ${counted(logs, 'log')}`;
  return [
    `${FIRST[verified.verdict](verified)}`,
    head === null ? 'no line of it holds' : `held: ${held}, the last with seq ${seq}`,
    ...(head === null ? [] : [`head: ${head}`]),
    ...(since_head === null ? [] : [`the head that was kept is in it; ${counted(since_head, 'line')} came after`]),
    ...(previous === null ? [] : [`it goes on from log ${previous.log}, head ${previous.head}, which comes before`]),
    ...(torn === 0 ? [] : [`a crash cut a line at ${counted(torn, 'place')}, and the log went on`]),
    ...(lost === 0 ? [] : [`${counted(lost, 'decision')} without a line: the sink did not take it`]),
    WORTH[verified.proof],
  ]
    .map((line) => `${visible(line, 'name')}\n`)
    .join('');
}

const FIRST: Readonly<Record<Verified['verdict'], (verified: Verified) => string>> = {
  intact: () => 'intact',
  torn: ({ lines }) => `torn: it ends within a line, as after a crash; it holds up to line ${lines}`,
  cut: ({ lines }) => (lines === 0 ? 'cut: it has no line' : 'cut: the head that was kept is not in it'),
  changed: ({ bad }) => `changed: ${bad?.file}:${bad?.line}: ${bad?.why}`,
};

const WORTH: Readonly<Record<Verified['proof'], string>> = {
  none: 'not proof against who can write it: for that give --key, or a --head that was kept elsewhere',
  key: 'proof against who can write it and lacks the key; lines cut from its end show only against a kept --head',
  head: 'proof up to the head that was kept; not proof of what came after against who can write it',
  'key and head': 'proof against who can write it and lacks the key; lines after the kept head may have been cut',
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
