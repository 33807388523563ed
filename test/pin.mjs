/**
 * Pins the built component: writes what `test/walls/component.test.ts` holds it to. Run it by hand, after
 * `node guest/build.mjs`, when a change of the guest is meant to ship: `node test/pin.mjs`, and read the difference.
 * `node test/pin.mjs --print` writes nothing.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { admitComponent } from '../dist/runner/component.js';

const PINNED = new URL('../wit/component.json', import.meta.url);

const bytes = readFileSync(new URL('../dist/portcullis.wasm', import.meta.url));
const { hash, imports, memoryMaxPages } = await admitComponent(bytes);
const pin = `${JSON.stringify({ hash, imports, memoryMaxPages, bytes: bytes.length }, null, 2)}\n`;
if (!process.argv.includes('--print')) writeFileSync(PINNED, pin);
process.stdout.write(pin);
