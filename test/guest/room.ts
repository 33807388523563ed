/**
 * One room of the guest alone, compiled as the guest is: for laws that would drown in the rest. A room's file here says
 * what it lets a test do.
 */

import fs from 'node:fs';

/** As guest/asconfig.json has them. */
const OPTIONS = ['--runtime', 'stub', '--noAssert', '--use', 'abort=', '--enable', 'simd', '--maximumMemory', '4096'];

/** The exports of a room. Costs a compilation, about two seconds. */
export async function room<T>(name: string): Promise<T & { readonly memory: WebAssembly.Memory }> {
  const { main } = await import('assemblyscript/asc');
  const source = `test/guest/rooms/${name}.ts`;
  let binary: Uint8Array | undefined;
  const { error, stderr } = await main([source, '--outFile', 'room.wasm', '-O3', ...OPTIONS], {
    readFile: (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null),
    writeFile: (_name, contents) => {
      if (typeof contents !== 'string') binary = contents;
    },
    listFiles: () => null,
  });
  if (error !== null || binary === undefined) throw new Error(`${source}: ${error?.message}\n${stderr.toString()}`);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(binary)), {});
  // The room's file says what it exports; the caller names the same.
  return instance.exports as unknown as T & { readonly memory: WebAssembly.Memory };
}
