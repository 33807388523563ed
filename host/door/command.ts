/**
 * The command line, without the process around it: words in, an exit status out. The first file on the path
 * of a call that comes from a shell; the next is the runner. `search` and `read` are for people, `call` is
 * for programs.
 *
 * Exit status: 0 an answer, 1 a refusal (`AxError`), 2 the command itself was written wrongly, 130 interrupted; 70 a bug
 * (cli.ts).
 */

import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { KEY_IN_WORDS, ReceiptError } from '../audit/record.js';
import { type AxError, configInvalid, invalidArgs, type Outcome, ok, refused } from '../error.js';
import { CONTEXT_CAP_LINES } from '../limits.js';
import type { ReadValue } from '../tools/read.js';
import { TOOLS } from '../tools/registry.js';
import type { SearchValue } from '../tools/search.js';
import type { SearchHistoryValue } from '../tools/search-history.js';
import { type AnyTool, jsonSchema } from '../tools/tool.js';
import { type AuditOptions, audit } from './audit.js';
import { bytesToPut, type Incoming, type PutOptions, shownBlock } from './blocks.js';
import { type HistoryWords, showHistory } from './history.js';
import type { City, CityOptions as Entering, openRunner, Runner } from './node.js';
import { type Look, type Shown, showError, showRead, showSearch } from './people.js';
import { type ReceiptFiles, type VerifyOptions, verify } from './receipts.js';
import { palette, visible, visibleJson, wantsColour } from './terminal.js';

const EXIT = { answered: 0, refused: 1, usage: 2, interrupted: 130 } as const;

/** A walk shorter than this shows no progress; then the line is renewed at most this often. */
const PROGRESS_AFTER_MS = 500;
const PROGRESS_EVERY_MS = 100;
/** How long closing may take once the answer is out. Threads end in milliseconds, unless one is stuck in the disk. */
const CLOSE_PATIENCE_MS = 2_000;

/** One of the process's streams. */
export interface Sink {
  readonly isTerminal: boolean;
  /** Done when the words, or bytes, are handed on; a reader that went away (`| head`) is no error. */
  write(words: string | Uint8Array): Promise<void>;
}

/** Everything the command meets outside itself, so that a test can be all of it. */
export interface Surroundings extends Incoming {
  readonly openRunner: typeof openRunner;
  readonly receipts: ReceiptFiles;
  readonly out: Sink;
  readonly err: Sink;
  /** Calls back once, at the first interrupt; what comes back stops listening. */
  readonly onInterrupt: (interrupted: () => void) => () => void;
  /** Ends the process although a thread of it cannot be ended. */
  readonly kill: () => void;
  readonly now: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly platform: string;
  readonly version: string;
}

/** The options every subcommand has. */
interface CityOptions {
  readonly city?: string;
  readonly reader?: string;
  readonly portable?: true;
  readonly shelf?: readonly string[];
  readonly store?: string;
  readonly history?: string;
  readonly branches?: readonly string[];
  readonly receipts?: string;
  readonly receiptsKey?: string;
  readonly color: boolean;
}
interface SearchOptions extends CityOptions {
  readonly context: number;
}
interface ReadOptions extends CityOptions {
  readonly offset?: number;
  readonly line?: number;
  readonly limit?: number;
  readonly byte?: number;
}

/**
 * Runs one command.
 *
 * @param words - what stands after `portcullis`
 * @returns the exit status. Throws only bugs.
 */
export async function main(words: readonly string[], around: Surroundings): Promise<number> {
  const said = { out: '', err: '' };
  let status: number = EXIT.answered;
  const program = commands(around, said, (ended) => {
    status = ended;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // `commander.help` is help shown because no command was named; the other two were asked for.
    status = ['commander.helpDisplayed', 'commander.version'].includes(error.code) ? EXIT.answered : EXIT.usage;
  }
  if (said.out !== '') await around.out.write(said.out);
  if (said.err !== '') await around.err.write(said.err);
  return status;
}

/** The grammar of the command line. Its own words (help, usage errors) go to `said`, for it writes in one go. */
function commands(around: Surroundings, said: { out: string; err: string }, ended: Ended): Command {
  const program = new Command('portcullis')
    .description('Search and read a tree of files; nothing outside it, and nothing its rules close, can be reached.')
    .version(around.version)
    // An option belongs to the command it follows: `audit --json` and `audit verify --json` are two.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        said.out += text;
      },
      // A usage error repeats what was typed, and that may come from a file: `portcullis $(cat names)`.
      writeErr: (text) => {
        said.err += text
          .split('\n')
          .map((line) => visible(line, 'name'))
          .join('\n');
      },
    })
    // Commands made below inherit it: whoever guessed an option is told where they are written down.
    .showHelpAfterError(AFTER_USAGE_ERROR)
    .addHelpText('after', AFTER_HELP);

  addSearch(program, around, ended);
  addRead(program, around, ended);
  addCall(program, around, ended);
  addHistory(program, around, ended);
  addBlocks(program, around, ended);
  addAudit(program, around, ended);
  return program;
}

/** Told the exit status of the command that ran. */
type Ended = (status: number) => void;

function addSearch(program: Command, around: Surroundings, ended: Ended): void {
  ofCity(program.command('search'))
    .summary('lines that contain TEXT')
    .description('Lines that contain TEXT, literally and with its case, over everything that may be read.')
    .argument('<TEXT>', 'one line of text; after -- if it starts with a dash')
    .argument('[PATH]', 'a directory or file of the city; left out: all of it')
    .option('--context <lines>', `lines shown on each side of a hit, at most ${CONTEXT_CAP_LINES}`, whole, 0)
    .action(async (text: string, path: string | undefined, options: SearchOptions) =>
      ended(await search(text, path, options, around)),
    );
}

function addRead(program: Command, around: Surroundings, ended: Ended): void {
  ofCity(program.command('read'))
    .summary('an interval of a file')
    .description('An interval of a text file. On a terminal with line numbers, else its bytes as they are.')
    .argument('<PATH>', 'a file of the city, a name of the catalog, or a Locator: cas:b3-… or file:<address>@<commit>')
    .addHelpText('after', '\n--offset counts from 0, as the tool does; --line counts from 1, as `search` prints it.')
    .option('--offset <lines>', 'lines passed over before the first one shown (default: 0)', whole)
    .option('--line <number>', 'the first line shown, by its number', lineNumber)
    .option('--limit <lines>', 'lines shown; an answer also ends by bytes, and says how to go on', whole)
    .option('--byte <bytes>', 'where in the first line to begin, as the last answer said', whole)
    .action(async (path: string, options: ReadOptions, command: Command) => {
      if (options.offset !== undefined && options.line !== undefined) {
        command.error('error: --offset and --line are two names of one thing; give one of them');
      }
      ended(await read(path, options, around));
    });
}

function addCall(program: Command, around: Surroundings, ended: Ended): void {
  ofCity(program.command('call'))
    .summary('one tool, for programs: JSON in, JSON out')
    .description('Calls a tool. Standard output is its value (exit 0) or the error (exit 1), as one line of JSON.')
    .argument('<TOOL>', [...TOOLS.keys()].join(', '))
    .argument('<JSON>', 'the arguments as a JSON object; - takes them from standard input')
    .addHelpText('after', ({ command }) => [...TOOLS.values()].map((tool) => argumentsHelp(tool, command)).join('\n'))
    .action(async (tool: string, json: string, options: CityOptions) =>
      ended(await callTool(tool, json, options, around)),
    );
}

function addHistory(program: Command, around: Surroundings, ended: Ended): void {
  ofCity(program.command('history'))
    .summary('what agents said and committed: entries that hold PATTERN, or one entry')
    .description(
      'Entries (files below messages/ and summary/) that a commit on one of the branches added and that hold PATTERN, ' +
        'newest first, also those that were removed since; or one of them, byte for byte.',
    )
    .argument('[PATTERN]', 'a literal text, newlines too; after -- if it starts with a dash')
    .option('--entry <address>', 'one entry, by its address <commit>:<path>')
    .action(async (pattern: string | undefined, options: CityOptions & HistoryWords, command: Command) => {
      if ((pattern === undefined) === (options.entry === undefined)) {
        command.error('error: give a PATTERN or an --entry, and one of them');
      }
      ended(await history(pattern, options, around));
    });
}

function addBlocks(program: Command, around: Surroundings, ended: Ended): void {
  const blocks = program
    .command('blocks')
    .summary('store bytes under their hash, and get them back')
    .description('The block store of a city: bytes under their hash, and which building they were stored for.');
  ofCity(blocks.command('put'))
    .summary('stores a file, and prints its Locator')
    .description('Stores a file of yours, or standard input, and prints its Locator: what `read` takes.')
    .argument('[FILE]', 'the file, from the current directory; left out or -: standard input')
    .option('--for <place>', 'the building or room it is stored for; left out: no run reads it by its Locator')
    .action(async (file: string | undefined, options: CityOptions & PutOptions) =>
      ended(await putBlock(file, options, around)),
    );
  ofCity(blocks.command('get'))
    .summary('the bytes of a block, or of a range of it')
    .description('The bytes of a block, or exactly the range in its Locator, if the reader may read them.')
    .argument('<LOCATOR>', 'cas:b3-<64 hex digits>, and a range where one is meant: #L1-2 or #B0-4')
    .action(async (locator: string, options: CityOptions) => ended(await getBlock(locator, options, around)));
}

function addAudit(program: Command, around: Surroundings, ended: Ended): void {
  const auditing = program
    .command('audit')
    .enablePositionalOptions()
    .summary('the capability page of this installation, with the table of attacks run live')
    .description(
      'What the component is and may do, the limits in force, the tree of this system, and every attack of the table, ' +
        'run live on temporary cities. Exit status 1 if anything does not hold.',
    )
    .option('--json', 'the page as one line of JSON')
    .action(async (options: AuditOptions) => ended(await audit(options, around)));
  auditing
    .command('verify')
    .summary('whether every line of a log is as it was written')
    .description('Holds every line of a log of receipts against the chain, and names the first that does not hold.')
    .argument('<LOG...>', 'its files, oldest first')
    .option('--head <hash>', 'a head that was kept elsewhere: what shows a cut tail', head)
    .option('--key <file>', 'the key it is kept with: what shows a forgery')
    .option('--json', 'the verdict as one line of JSON')
    .action(async (files: string[], options: VerifyOptions) => ended(await verify(files, options, around)));
}

/** BLAKE3, as `audit verify` prints it. */
function head(typed: string): string {
  if (!/^[0-9a-fA-F]{64}$/.test(typed)) throw new InvalidArgumentError('It must be 64 hex digits.');
  return typed.toLowerCase();
}

/** What a tool takes, from its schema: whoever writes the JSON has no other place to look at a terminal. */
function argumentsHelp(tool: AnyTool, command: Command): string {
  const { properties = {}, required = [] } = jsonSchema(tool);
  const help = Object.assign(command.createHelp(), { helpWidth: HELP_WIDTH });
  const names = Object.keys(properties);
  const width = Math.max(...names.map((name) => name.length));
  const items = Object.entries(properties).map(([name, property]) => {
    const description = typeof property === 'object' ? (property.description ?? '') : '';
    const isNeeded = required.includes(name);
    return help.formatItem(name, width, isNeeded ? `${description} Required.` : description, help);
  });
  return `\n${tool.title}: ${tool.name}, with a JSON object of\n${items.join('\n')}`;
}
/** As wide as commander sets help that goes to no terminal. */
const HELP_WIDTH = 80;

const AFTER_USAGE_ERROR =
  '→ --help, also after a command, explains every argument and option; for JSON use `portcullis call`';

const AFTER_HELP = `
Examples:
  portcullis search 'TODO' src
  portcullis read README.md --line 20 --limit 10
  portcullis call search '{"text":"TODO","context":2}' --city ~/project
  portcullis history 'the sluice' --branches 'agents/*' --city ~/project
  portcullis blocks put notes.txt --for lab --city ~/project

Paths are those of the city, not of the current directory; without --city they are the same.
Line numbers shown to people count from 1; those in JSON, and --offset, count from 0.
Exit status: 0 answered (also: no hits), 1 refused, 2 wrong usage, 70 a bug, 130 interrupted.`;

const ofCity = (command: Command): Command =>
  command
    .option('--city <dir>', 'the tree that is searched and read (default: the current directory)')
    .option('--reader <building>', 'read as a resident of this top-level directory (default: an outsider everywhere)')
    .option('--store <dir>', 'the city whose block store is used (default: the same)')
    .option('--history <dir>', 'where the repository is whose history is searched (default: the city)')
    .option(
      '--branches <pattern>',
      'branches whose history may be searched, like agents/*; more than once. Without it: agents/*, and only where ' +
        'nothing in the city is closed to the reader',
      gathered,
    )
    .option('--portable', 'open files where the system has no /proc; only while nobody untrusted writes in the city')
    .option(
      '--shelf <dir>',
      'skills outside the city, as DIR/NAME/SKILL.md; more than once: the nearest last',
      gathered,
    )
    .option('--receipts <file>', 'put each decision on record there before it is answered; see `audit verify`')
    .option('--receipts-key <file>', `the key of that log: ${KEY_IN_WORDS}`)
    .option('--no-color', 'no colours, as with NO_COLOR=1')
    .hook('preAction', (_, asked) => {
      const { receipts, receiptsKey } = asked.opts<CityOptions>();
      // Silence would look like a record that is kept.
      if (receiptsKey !== undefined && receipts === undefined) {
        asked.error('error: --receipts-key is the key of a log; name the log too, with --receipts');
      }
    });

/** An option that may be given more than once, in its order. */
const gathered = (typed: string, before: readonly string[] = []): readonly string[] => [...before, typed];

/** A whole number as it is typed. Its range is the tool's business: it answers with what to do. */
function whole(typed: string): number {
  if (!/^-?\d+$/.test(typed)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(typed);
}

/** A line as people count them. There is no line 0, and the tool would complain about an offset nobody typed. */
function lineNumber(typed: string): number {
  if (whole(typed) < 1) throw new InvalidArgumentError('Lines count from 1.');
  return whole(typed);
}

/**
 * A path as shells complete it, as an address: without `./` before it and `/` after it, and nothing for `.`.
 * A convenience of this door alone; what comes out is judged like any other, and `call` takes addresses only.
 */
export function typedPath(typed: string): string | undefined {
  const bare = typed.replace(/^(?:\.\/(?!\/))+/, '').replace(/(?<=[^/])\/$/, '');
  return bare === '.' || (bare === '' && typed !== '') ? undefined : bare;
}

async function search(
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

async function read(path: string, options: ReadOptions, around: Surroundings): Promise<number> {
  const looks = looksOf(around, options);
  const offset = options.line === undefined ? options.offset : options.line - 1;
  const args = { path: typedPath(path) ?? '.', ...given({ offset, limit: options.limit, byte: options.byte }) };
  return answerPerson('read', args, options, around, looks, (value) =>
    // Validated by the runner, as above.
    showRead(value as ReadValue, { offsetLines: offset ?? 0 }, looks.out, looks.err),
  );
}

async function history(
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

async function putBlock(
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

async function getBlock(locator: string, options: CityOptions, around: Surroundings): Promise<number> {
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

async function callTool(tool: string, json: string, options: CityOptions, around: Surroundings): Promise<number> {
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

/** What came of one call. */
interface Answered<T> {
  readonly outcome: Outcome<T>;
  readonly interrupted: boolean;
  /** To be called when the answer is out: what holds the closing up must not hold up the answer. */
  readonly close: () => Promise<void>;
}

/** One call from nothing: a runner, the city, the tool. */
async function ask(
  tool: string,
  args: unknown,
  options: CityOptions,
  around: Surroundings,
  onProgress?: Report,
): Promise<Answered<unknown>> {
  const progress = onProgress === undefined ? {} : { onProgress };
  return inCity(tool, options, around, (city, signal) => city.call(tool, args, { signal, ...progress }));
}

/** Whatever is asked of a city, from nothing. */
async function inCity<T>(
  action: string,
  options: CityOptions,
  around: Surroundings,
  work: (city: City, signal: AbortSignal) => Promise<Outcome<T>>,
): Promise<Answered<T>> {
  const cancel = new AbortController();
  const stopListening = around.onInterrupt(() => cancel.abort());
  const opened = await openFor(action, options, around);
  if (!opened.ok) return { outcome: opened, interrupted: false, close: async () => {} };
  const { runner, close } = opened.value;
  const city = await runner.enter(options.city ?? around.directory, await entering(options, around));
  const outcome = city.ok ? await work(city.value, cancel.signal) : city;
  stopListening();
  return { outcome, interrupted: cancel.signal.aborted, close };
}

interface Opened {
  readonly runner: Runner;
  readonly close: () => Promise<void>;
}

/** A runner, and the log of receipts if there is to be one. A log that does not open is a refusal: nothing is asked then. */
async function openFor(tool: string, options: CityOptions, around: Surroundings): Promise<Outcome<Opened>> {
  const { receipts: file, receiptsKey: keyFile } = options;
  if (file === undefined) {
    const runner = await around.openRunner({ workers: 1 });
    return ok({ runner, close: () => closed(runner, around) });
  }
  let sink: Awaited<ReturnType<ReceiptFiles['open']>> | undefined;
  try {
    const key = keyFile === undefined ? {} : { key: await around.receipts.readKey(keyFile) };
    sink = await around.receipts.open(file);
    const runner = await around.openRunner({ workers: 1, receipts: { sink, ...key } });
    return ok({ runner, close: () => closed(runner, around).finally(() => sink?.close()) });
  } catch (error) {
    await sink?.close();
    if (!(error instanceof ReceiptError)) throw error;
    const fact = `no receipts can be written there (${error.message})`;
    return refused(configInvalid({ action: tool, asked: file }, fact, LOG_RECOVERY));
  }
}

const LOG_RECOVERY =
  'name a log that is whole or a new file, in a directory that is there and may be written, and the key the log began with';

/** The runner closed, or the process ended over it: a system call that hangs cannot be ended, only left. */
async function closed(runner: Runner, { kill }: Surroundings): Promise<void> {
  const patience = setTimeout(kill, CLOSE_PATIENCE_MS);
  await runner.close();
  clearTimeout(patience);
  if (runner.stuckWorkers > 0) kill();
}

/**
 * How the city is entered. Only Linux can open a file relative to a held directory; elsewhere the one person
 * at this terminal gets the portable tree without asking, and is told. On Linux a failed check never does this.
 */
async function entering(
  { reader, portable, store, shelf: shelves, history: repository, branches }: CityOptions,
  around: Surroundings,
): Promise<Entering> {
  const fallsBack = portable === undefined && around.platform !== 'linux';
  if (fallsBack) {
    await around.err.write(
      'portcullis: this system cannot open files relative to a directory; reading as with --portable\n',
    );
  }
  const history = {
    ...(repository === undefined ? {} : { repository }),
    ...(branches === undefined ? {} : { branches }),
  };
  return {
    reader: reader ?? null,
    ...(portable || fallsBack ? { tree: 'portable' as const } : {}),
    ...(shelves === undefined ? {} : { shelves }),
    ...(store === undefined ? {} : { store }),
    ...(repository === undefined && branches === undefined ? {} : { history }),
  };
}

type Report = (so: { readonly entries: number; readonly matches: number }) => void;

/** The line that says how far a long walk is: only on a terminal, only after a while, gone before the answer. */
function progressLine({ err, now }: Surroundings): { readonly report: Report; readonly clear: () => Promise<void> } {
  // From the first report on: what came before it was not the walk.
  let startedAt: number | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  let pending = Promise.resolve();
  const show = (words: string): void => {
    pending = pending.then(() => err.write(`\r\u001b[2K${words}`));
  };
  return {
    report: ({ entries, matches }) => {
      const at = now();
      startedAt ??= at;
      if (!err.isTerminal || at - startedAt < PROGRESS_AFTER_MS || at - shownAt < PROGRESS_EVERY_MS) return;
      shownAt = at;
      show(`${entries} entries so far, hits: ${matches}`);
    },
    clear: () => {
      if (shownAt !== Number.NEGATIVE_INFINITY) show('');
      return pending;
    },
  };
}
