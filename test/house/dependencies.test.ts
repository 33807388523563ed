/** What is installed beside us: exact versions, each with a decision, and nothing that runs at install. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const locked: Record<string, Locked> = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
const shipped = Object.entries(locked).filter(([place, { dev, devOptional }]) => place !== '' && !dev && !devOptional);

describe('the dependencies', () => {
  it('that ship are few, and none has an install script', () => {
    expect(shipped.length).toBeGreaterThan(4);
    expect(shipped.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place)).toEqual([]);
  });

  it.each(Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies }))(
    '%s is pinned to one version',
    (_, version) => {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    },
  );

  it.each(Object.keys(manifest.dependencies))('%s has its reason in DECISIONS', (name) => {
    expect(readFileSync('docs/DECISIONS.md', 'utf8')).toContain(`\`${name}\``);
  });
});
