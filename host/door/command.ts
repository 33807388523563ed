/**
 * The command line, without the process around it: words in, an exit status out. The first file on the path
 * of a call that comes from a shell: its grammar. answering.ts comes next. `search`, `read` and `history` are for people,
 * `call` is for programs.
 *
 * Exit status: 0 an answer, 1 a refusal (`AxError`), 2 the command itself was written wrongly, 130 interrupted; 70 a bug
 * (cli.ts).
 */

import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { KEY_IN_WORDS } from '../audit/record.js';
import { CONTEXT_CAP_LINES } from '../limits.js';
import { TOOLS } from '../tools/registry.js';
import { type AnyTool, jsonSchema } from '../tools/tool.js';
import {
  callTool,
  EXIT,
  getBlock,
  history,
  putBlock,
  type ReadOptions,
  read,
  type SearchOptions,
  search,
} from './answering.js';
import type { CityOptions, Surroundings } from './asking.js';
import { type AuditOptions, audit } from './audit.js';
import type { PutOptions } from './blocks.js';
import type { HistoryWords } from './history.js';
import { type VerifyOptions, verify } from './receipts.js';
import { visible } from './terminal.js';

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
