/**
 * The `portcullis` command: gives the command line (`command.ts`) the real process. Loaded by `bin/`, and
 * runs as it is loaded.
 */

import { createRequire } from 'node:module';
import { openReceiptFile, readReceiptKey, verifyFiles } from '../audit/file.js';
import type { Sink } from './asking.js';
import { main } from './command.js';
import { openRunner, readOwnFile } from './node.js';

function sinkOf(stream: NodeJS.WriteStream): Sink {
  let isGone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has enough (`| head`) closes the pipe; what is left has nowhere to go, and that is all.
    if (error.code !== 'EPIPE') notWritten(error.code ?? 'unknown');
    isGone = true;
  });
  return {
    isTerminal: stream.isTTY === true,
    write: (words) =>
      new Promise((done) => {
        if (isGone || words.length === 0) done();
        else stream.write(words, () => done());
      }),
  };
}

/** Half an answer must not look like a whole one: a full disk behind `>` ends the command as a failure. */
function notWritten(code: string): never {
  process.stderr.write(`portcullis: the answer could not be written (${code})\n`);
  process.exit(1);
}

async function standardInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function onInterrupt(interrupted: () => void): () => void {
  // Once: a second interrupt ends the process, whatever the first one is still waiting for.
  process.once('SIGINT', interrupted);
  return () => process.off('SIGINT', interrupted);
}

const { version } = createRequire(import.meta.url)('../../package.json');

/** A bug. Its kind alone is told, since its message and stack may hold anything; who looks for it asks for those. */
function bug(thrown: unknown): number {
  const kind = thrown instanceof Error ? thrown.name : typeof thrown;
  const trace = process.env['PORTCULLIS_TRACE'] === '1' ? `\n${thrown instanceof Error ? thrown.stack : thrown}` : '';
  process.stderr.write(`portcullis: a bug of this program (${kind}); please report it with what was asked${trace}\n`);
  return EXIT_BUG;
}
/** What sysexits.h calls EX_SOFTWARE: no program takes it for an answer or a refusal. */
const EXIT_BUG = 70;

process.exitCode = await main(process.argv.slice(2), {
  openRunner,
  receipts: { open: openReceiptFile, readKey: readReceiptKey, verify: verifyFiles },
  out: sinkOf(process.stdout),
  err: sinkOf(process.stderr),
  input: standardInput,
  file: readOwnFile,
  onInterrupt,
  kill: () => process.kill(process.pid, 'SIGKILL'),
  now: () => performance.now(),
  environment: process.env,
  directory: process.cwd(),
  platform: process.platform,
  version,
}).catch(bug);
