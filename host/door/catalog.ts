/**
 * The catalog of an entered city as its embedder sees it, and the one scan behind it. A run's names do not change while
 * it lasts: what `pins()` gave for its record is what its reads open.
 */

import { type Asked, cancelled, type Outcome, ok, refused, toldAs } from '../error.js';
import { type CatalogEntry, type CatalogRead, type Diagnostic, unreadableError } from '../judge/catalog.js';

/** A name, and the hash of what it opened at the scan. */
export interface Pin {
  readonly name: string;
  /** `cas:b3-<64 hex>`, as a `version`. */
  readonly hash: string;
}

/** What a run may open by name. */
export interface Catalog {
  readonly entries: readonly CatalogEntry[];
  /** Names of the reading room that open nothing, each with the reason. */
  readonly diagnostics: readonly Diagnostic[];
  /** Of every entry that has a hash, for the run's record. */
  pins(): readonly Pin[];
}

/** The scan of one run, made when it is first needed and kept. One that did not come about is made anew when asked. */
export class RunCatalog {
  readonly #make: () => Promise<Outcome<CatalogRead>>;
  #made: Promise<Outcome<CatalogRead>> | undefined;

  /** `make`: a refusal is one of the runner (no thread, no time); what is wrong with shelves is a value. */
  constructor(make: () => Promise<Outcome<CatalogRead>>) {
    this.#make = make;
  }

  /** For a call: it waits for the scan no longer than its own signal, and the scan goes on for the others. */
  async read(at: Asked, signal?: AbortSignal): Promise<Outcome<CatalogRead>> {
    this.#made ??= this.#once();
    const read = await unlessAborted(this.#made, signal);
    if (read === 'aborted') return refused(cancelled(at));
    return read.ok ? read : refused(toldAs(at, read.error));
  }

  /** For the embedder. */
  async shown(at: Asked): Promise<Outcome<Catalog>> {
    const read = await this.read(at);
    if (!read.ok) return read;
    if (read.value.kind === 'unreadable') return refused(unreadableError(at, read.value));
    const { entries, diagnostics } = read.value;
    return ok({ entries, diagnostics, pins: () => pinsOf(entries) });
  }

  async #once(): Promise<Outcome<CatalogRead>> {
    let scanned = false;
    try {
      const read = await this.#make();
      scanned = read.ok;
      return read;
    } finally {
      if (!scanned) this.#made = undefined;
    }
  }
}

const pinsOf = (entries: readonly CatalogEntry[]): readonly Pin[] =>
  entries.flatMap(({ name, hash }) => (hash === undefined ? [] : [{ name, hash }]));

/** One signal may be that of a thousand calls: nothing is left on it. */
async function unlessAborted<T>(made: Promise<T>, signal: AbortSignal | undefined): Promise<T | 'aborted'> {
  if (signal === undefined) return made;
  if (signal.aborted) return 'aborted';
  let abort = (): void => {};
  const aborted = new Promise<'aborted'>((resolve) => {
    abort = () => resolve('aborted');
  });
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([made, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
