/**
 * The keeper's thread: enters cities and lets go of them. A descriptor is closed by the thread that opened it, and no
 * file-system call of ours runs on the embedder's.
 */

import { parentPort } from 'node:worker_threads';
import type { Outcome } from '../error.js';
import type { EnterOptions, TreeSpec } from '../tree/spec.js';
import { type Entered, enterCity, type Where } from './entering.js';

/** What a keeper asks of its thread; each `id` is answered once. */
export type ToKeeper =
  | {
      readonly op: 'enter';
      readonly id: number;
      readonly where: Where;
      readonly reader: string | null;
      readonly options: EnterOptions;
    }
  | { readonly op: 'leave'; readonly id: number };

/** The answer to `enter`; `leave` is not answered. */
export interface FromKeeper {
  readonly id: number;
  readonly entered: Outcome<TreeSpec>;
}

const held = new Map<number, Entered>();

function enter({ id, where, reader, options }: ToKeeper & { op: 'enter' }): FromKeeper {
  const entered = enterCity(where, reader, options);
  if (!entered.ok) return { id, entered };
  held.set(id, entered.value);
  return { id, entered: { ok: true, value: entered.value.spec } };
}

function leave(id: number): void {
  held.get(id)?.close();
  held.delete(id);
}

parentPort?.on('message', (message: ToKeeper) => {
  if (message.op === 'leave') leave(message.id);
  else parentPort?.postMessage(enter(message));
});
