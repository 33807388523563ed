/** Whatever a reader could believe is tried: README's commands and their output, its program, every path a doc names. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseRules } from '../../dist/judge/rules.js';

const DOCS = ['README.md', 'CHANGELOG.md', 'bench/README.md', ...readdirSync('docs').map((name) => `docs/${name}`)];
/** The two set-up commands would call this suite. */
const SETS_UP = /^npm (start|test|run (check|soak|bench|smoke))/;

interface Block {
  readonly language: string;
  readonly text: string;
  /** Nothing but blank lines stands between it and the block before. */
  readonly follows: boolean;
}

/** Fenced blocks, in order. */
function blocksOf(markdown: string): Block[] {
  let end = 0;
  return Array.from(
    markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm),
    ({ 0: whole, 1: language = '', 2: text = '', index }) => {
      const follows = markdown.slice(end, index).trim() === '';
      end = index + whole.length;
      return { language, text, follows };
    },
  );
}

/** Each shell block, and the output shown right after it, if any. */
function shown(markdown: string): { command: string; output: string | undefined }[] {
  const blocks = blocksOf(markdown);
  return blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1];
    const isOutput = next?.follows === true && ['text', 'json'].includes(next.language);
    const output = isOutput ? next.text : undefined;
    return language === 'sh' && !SETS_UP.test(text) ? [{ command: text.trim(), output }] : [];
  });
}

/** What a command writes, standard output first. */
function run(command: string): string {
  const { stdout, stderr } = spawnSync('bash', ['-c', command], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  return `${stdout}${stderr}`;
}

const README = readFileSync('README.md', 'utf8');

describe('the README', () => {
  beforeAll(() => {
    // Laid out anew it would be gone for a moment, under the feet of whoever uses it.
    if (!existsSync('build/sample/city')) execFileSync(process.execPath, ['sample/make.mjs']);
  });

  it('shows commands with their output', () => {
    expect(shown(README).filter(({ output }) => output !== undefined).length).toBeGreaterThanOrEqual(3);
  });

  it.each(shown(README))('tells what happens: $command', ({ command, output }) => {
    const answer = run(command);
    expect(answer.trim()).not.toBe('');
    if (output !== undefined) expect(answer.trim()).toBe(output.trim());
  });

  const programs = blocksOf(README).filter(({ language }) => language === 'js');
  it.each(programs)('has a program that runs as it stands', ({ text }) => {
    // Inside the package, so that `portcullis` is this one.
    const file = path.resolve('build/readme-program.mjs');
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    rmSync(file);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('hall/minutes/');
  });

  const rules = blocksOf(README).filter(({ language }) => language === 'toml');
  it.each(rules)('has rules that close a building as they stand', ({ text }) => {
    expect(parseRules(text, 'lab')).toMatchObject({ kind: 'rules', rules: { confidential: true } });
  });
});

describe.each(DOCS.filter((doc) => existsSync(doc)))('%s', (doc) => {
  const text = readFileSync(doc, 'utf8');

  it('links only to files that exist', () => {
    const targets = Array.from(text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g), ([, target = '']) => target);
    const dead = targets.filter(
      (target) => !/^https?:/.test(target) && !existsSync(path.join(path.dirname(doc), target)),
    );
    expect(dead).toEqual([]);
  });

  it('names only files that exist', () => {
    const named = Array.from(
      text.matchAll(/`((?:host|guest|test|docs|wit|bench|sample)\/[\w./-]+)`/g),
      ([, name = '']) => name,
    );
    expect(named.filter((name) => !existsSync(name))).toEqual([]);
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = Array.from(text.matchAll(/`npm run ([\w:-]+)/g), ([, name = '']) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

describe('docs/SECURITY.md', () => {
  const text = readFileSync('docs/SECURITY.md', 'utf8');
  const rows = Array.from(
    text.matchAll(/^\| (\d+) \|.*\| `(test\/[^`]+)`(?: “([^”]+)”)? \|$/gm),
    ([, number = '', file = '', title]) => ({ number, file, title }),
  );

  it('has claims, numbered without a gap', () => {
    expect(rows.length).toBeGreaterThan(15);
    expect(rows.map(({ number }) => Number(number))).toEqual(rows.map((_, index) => index + 1));
  });

  it.each(rows)('claim $number is shown by a test that exists: $file $title', ({ file, title }) => {
    const test = readFileSync(file, 'utf8');
    expect(test).toMatch(/\b(it|test)\b/);
    if (title !== undefined) expect(test).toContain(title);
  });

  it('gives commands that name files that exist', () => {
    const commands = blocksOf(text).filter(({ language }) => language === 'sh');
    expect(commands.length).toBeGreaterThan(0);
    const named = commands.flatMap(({ text: command }) => command.match(/\b(test|bench|bin)\/[\w./-]+/g) ?? []);
    expect(named.filter((name) => !existsSync(name))).toEqual([]);
  });
});
