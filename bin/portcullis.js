#!/usr/bin/env node
const notBuilt = () => process.exit(console.error('portcullis: nothing is built here: run npm start first') ?? 2);
await import('../dist/door/cli.js').catch((e) => (e.code === 'ERR_MODULE_NOT_FOUND' ? notBuilt() : Promise.reject(e)));
