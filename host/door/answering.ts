/**
 * What each command asks, and how its answer goes out: to standard output what was asked for, to the other stream what is
 * to be known about it. Stands between command.ts, which read the words, and asking.ts, which puts the question.
 */

import { type AxError, invalidArgs, type Outcome, ok, refused } from '../error.js';
import { CONTEXT_CAP_LINES } from '../limits.js';
import type { ReadValue } from '../tools/read.js';
import type { SearchValue } from '../tools/search.js';
import type { SearchHistoryValue } from '../tools/search-history.js';
import type { City } from './api.js';
import { ask, type CityOptions, inCity, progressLine, type Sink, type Surroundings } from './asking.js';
import { bytesToPut, type PutOptions, shownBlock } from './blocks.js';
import { type HistoryWords, showHistory } from './history.js';
import { type Look, type Shown, showError, showRead, showSearch } from './people.js';
import { palette, visibleJson, wantsColour } from './terminal.js';

/** The exit statuses, as command.ts tells them. */
export const EXIT = { answered: 0, refused: 1, usage: 2, interrupted: 130 } as const;

/** Words behind `search`. */
export interface SearchOptions extends CityOptions {
  readonly context: number;
}
/** Words behind `read`. */
export interface ReadOptions extends CityOptions {
  readonly offset?: number;
  readonly line?: number;
  readonly limit?: number;
  readonly byte?: number;
}

/**
 * A path as shells complete it, as an address: without `./` before it and `/` after it, and nothing for `.`.
 * A convenience of this door alone; what comes out is judged like any other, and `call` takes addresses only.
 */
export function typedPath(typed: string): string | undefined {
  const bare = typed.replace(/^(?:\.\/(?!\/))+/, '').replace(/(?<=[^/])\/$/, '');
  return bare === '.' || (bare === '' && typed !== '') ? undefined : bare;
}

/** `search`, for a person: hits as `rg` prints them. Gives the exit status. */
export async function search(
  text: string,
  path: string | undefined,
  options: SearchOptions,
  around: Surroundings,
): Promise<number> {
  const looks = looksOf(around, options);
  const where = path === undefined ? undefined : typedPath(path);
  const args = { text, context: options.context, ...(where === undefined ? {} : { path: where }) };
  const asked = { text, contextLines: Math.min(options.context, CONTEXT_CAP_LINES) };
  return answerPerson('search', args, options, around, looks, (value) =>
    // The runner validated the value against the tool's own schema before it gave it out.
    showSearch(value as SearchValue, asked, looks.out, looks.err),
  );
}

/** `read`, for a person: the lines, or on a pipe the bytes. Gives the exit status. */
export async function read(path: string, options: ReadOptions, around: Surroundings): Promise<number> {
  const looks = looksOf(around, options);
  const offset = options.line === undefined ? options.offset : options.line - 1;
  const args = { path: typedPath(path) ?? '.', ...given({ offset, limit: options.limit, byte: options.byte }) };
  return answerPerson('read', args, options, around, looks, (value) =>
    // Validated by the runner, as above.
    showRead(value as ReadValue, { offsetLines: offset ?? 0 }, looks.out, looks.err),
  );
}

/** `history`: the answer to a pattern, or one entry. Gives the exit status. */
export async function history(
  pattern: string | undefined,
  options: CityOptions & HistoryWords,
  around: Surroundings,
): Promise<number> {
  const looks = looksOf(around, options);
  const args = options.entry === undefined ? { pattern } : { entry: options.entry };
  return answerPerson('search_history', args, options, around, looks, (value) =>
    // Validated by the runner, as above.
    showHistory(value as SearchHistoryValue, looks.out, looks.err),
  );
}

/** The entries that were given. */
const given = (options: Readonly<Record<string, number | undefined>>): Record<string, number> =>
  Object.fromEntries(Object.entries(options).filter((entry): entry is [string, number] => entry[1] !== undefined));

interface Looks {
  readonly out: Look;
  readonly err: Look;
}

function looksOf({ out, err, environment }: Surroundings, { color }: CityOptions): Looks {
  const look = ({ isTerminal }: Sink): Look => ({
    isTerminal,
    colours: palette(wantsColour(isTerminal, color, environment)),
  });
  return { out: look(out), err: look(err) };
}

async function answerPerson(
  tool: string,
  args: unknown,
  options: CityOptions,
  around: Surroundings,
  looks: Looks,
  show: (value: unknown) => Omit<Shown, 'out'> & { readonly out: string | Uint8Array },
): Promise<number> {
  const progress = progressLine(around);
  const { outcome, interrupted, close } = await ask(tool, args, options, around, progress.report);
  await progress.clear();
  if (outcome.ok) {
    const shown = show(outcome.value);
    await around.out.write(shown.out);
    await around.err.write(shown.err);
  } else {
    await around.err.write(showError(outcome.error, looks.err.colours));
  }
  await close();
  return statusOf(outcome, interrupted);
}

/** `blocks put`: the Locator of what was stored. Gives the exit status. */
export async function putBlock(
  file: string | undefined,
  options: CityOptions & PutOptions,
  around: Surroundings,
): Promise<number> {
  const bytes = await bytesToPut(file, around);
  const origin = options.for === undefined ? {} : { for: options.for };
  return answerBytes('blocks put', options, around, async (city, signal) => {
    if (!bytes.ok) return bytes;
    const put = await city.blocks.put(bytes.value, { ...origin, signal });
    if (put.ok && options.for === undefined) await around.err.write(FOR_NOBODY);
    return put.ok ? ok(`${put.value}\n`) : put;
  });
}

const FOR_NOBODY = 'stored for nobody: no run reads it by its Locator; --for names a building that may\n';

/** `blocks get`: the bytes, as they are. Gives the exit status. */
export async function getBlock(locator: string, options: CityOptions, around: Surroundings): Promise<number> {
  return answerBytes('blocks get', options, around, async (city, signal) => {
    const got = await city.blocks.get(locator, { signal });
    return got.ok ? ok(shownBlock(got.value, around.out.isTerminal)) : got;
  });
}

/** What the block store answers, to standard output as it is; a refusal to the other stream, for eyes. */
async function answerBytes(
  action: string,
  options: CityOptions,
  around: Surroundings,
  work: (city: City, signal: AbortSignal) => Promise<Outcome<string | Uint8Array>>,
): Promise<number> {
  const { outcome, interrupted, close } = await inCity(action, options, around, work);
  if (outcome.ok) await around.out.write(outcome.value);
  else await around.err.write(showError(outcome.error, looksOf(around, options).err.colours));
  await close();
  return statusOf(outcome, interrupted);
}

/** `call`: the value or the error, as one line of JSON. Gives the exit status. */
export async function callTool(
  tool: string,
  json: string,
  options: CityOptions,
  around: Surroundings,
): Promise<number> {
  const args = await argumentsOf(tool, json, around);
  const { outcome, interrupted, close } = args.ok
    ? await ask(tool, args.value, options, around)
    : { outcome: args, interrupted: false, close: async () => {} };
  const answer = JSON.stringify(outcome.ok ? outcome.value : outcome.error);
  await around.out.write(`${around.out.isTerminal ? visibleJson(answer) : answer}\n`);
  await close();
  return statusOf(outcome, interrupted);
}

const statusOf = (outcome: Outcome<unknown>, interrupted: boolean): number =>
  interrupted ? EXIT.interrupted : outcome.ok ? EXIT.answered : EXIT.refused;

/** The arguments of `call`, parsed but not yet judged: that is the tool's schema. */
async function argumentsOf(tool: string, json: string, around: Surroundings): Promise<Outcome<unknown>> {
  let text = json;
  try {
    if (json === '-') text = new TextDecoder('utf-8', { fatal: true }).decode(await around.input());
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // Two things throw here: bytes that are not UTF-8 (TypeError) and text that is not JSON (SyntaxError).
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    return refused(notJson(tool, json === '-' ? 'standard input' : json));
  }
}

const notJson = (tool: string, asked: string): AxError =>
  invalidArgs(
    { action: tool, asked },
    'the arguments are not JSON',
    'pass one JSON object, quoted for the shell: portcullis call search \'{"text":"…"}\'',
  );
