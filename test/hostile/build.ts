/**
 * Compiles the hostile guests: each file of guests/ with prelude.ts, by AssemblyScript's own compiler, to a core module
 * for the fixed world. Kept in build/hostile by a hash of everything that went in, so only a change costs a compilation.
 */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const HERE = 'test/hostile';
const KEPT = 'build/hostile';
/** As guest/asconfig.json has them: a hostile guest is made like ours. */
const OPTIONS = ['--runtime', 'stub', '--noAssert', '--use', 'abort=', '--maximumMemory', '4096', '-O1'];
const SHARED = [`${HERE}/prelude.ts`, 'guest/abi/imports.ts', `${HERE}/build.ts`];

/** The names of all guests there are: each a claim. */
export const GUEST_NAMES: readonly string[] = fs
  .readdirSync(path.join(HERE, 'guests'))
  .map((file) => path.basename(file, '.ts'))
  .sort();

/** The core module of a guest. Costs about a second when its sources changed, else one read. */
export async function compileGuest(name: string): Promise<Uint8Array> {
  const source = `${HERE}/guests/${name}.ts`;
  const hash = createHash('sha256').update(OPTIONS.join(' '));
  for (const file of [source, ...SHARED]) hash.update(fs.readFileSync(file));
  const kept = path.join(KEPT, `${name}-${hash.digest('hex').slice(0, 16)}.wasm`);
  if (!fs.existsSync(kept)) keep(kept, await compile(source));
  return fs.readFileSync(kept);
}

/** Whole or not at all, whoever else compiles the same. */
function keep(kept: string, binary: Uint8Array): void {
  fs.mkdirSync(KEPT, { recursive: true });
  const half = `${kept}.${process.pid}`;
  fs.writeFileSync(half, binary);
  fs.renameSync(half, kept);
}

async function compile(source: string): Promise<Uint8Array> {
  const { main } = await import('assemblyscript/asc');
  let binary: Uint8Array | undefined;
  const { error, stderr } = await main([source, '--outFile', 'guest.wasm', ...OPTIONS], {
    readFile: (name) => (fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : null),
    writeFile: (_name, contents) => {
      if (typeof contents !== 'string') binary = contents;
    },
    listFiles: () => null,
  });
  if (error !== null || binary === undefined) throw new Error(`${source}: ${error?.message}\n${stderr.toString()}`);
  return binary;
}
