/**
 * `portcullis blocks`: what is read in, and how a block comes out. Beside answering.ts, which asks the city.
 * A block leaves as its bytes; only a terminal is shown what it would obey or hide spelled out.
 */

import { type AxError, configInvalid, type Outcome, ok, refused } from '../error.js';
import { visible } from './terminal.js';

/** Words behind `blocks put`. */
export interface PutOptions {
  readonly for?: string;
}

/** How bytes come in: from the operator's own files, or from standard input. */
export interface Incoming {
  readonly input: () => Promise<Uint8Array>;
  /** The bytes of a file of this process's, named as the shell names it. Rejects with the system's error. */
  readonly file: (path: string) => Promise<Uint8Array>;
}

/** The bytes to be stored. A file that does not open is a refusal, told by the system's own word. */
export async function bytesToPut(named: string | undefined, { input, file }: Incoming): Promise<Outcome<Uint8Array>> {
  if (named === undefined || named === '-') return ok(await input());
  try {
    return ok(await file(named));
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code; // a system error has one
    if (typeof code !== 'string') throw error;
    return refused(doesNotOpen(named, code));
  }
}

const doesNotOpen = (asked: string, code: string): AxError =>
  configInvalid(
    { action: 'blocks put', asked },
    `it does not open (${code})`,
    'name a file that can be read; it is looked for from the current directory, not in the city',
  );

/** A block as it is written to standard output. */
export function shownBlock(bytes: Uint8Array, isTerminal: boolean): string | Uint8Array {
  if (!isTerminal) return bytes;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const lines = text.split('\n').map((line) => visible(line, 'text'));
  return text === '' || text.endsWith('\n') ? lines.join('\n') : `${lines.join('\n')}\n`;
}
