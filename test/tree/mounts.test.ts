/** Which directories are asked for their mount, and what the table of mounts says. */

import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeCity, Mounts, mountOf, mountPoints } from '../../dist/tree/mounts.js';

const withDirectory = <T>(path: string, claim: (fd: number) => T): T => {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    return claim(fd);
  } finally {
    fs.closeSync(fd);
  }
};
/** Another number than any mount has. */
const NONE = -1;
const SAME = { address: 'lab', inode: 1n };
let others = 0;
/** A directory that was not asked of before. */
const other = () => ({ address: `lab/${others++}`, inode: BigInt(others) });

describe('the table of mounts', () => {
  it('has the root of the system and /proc', () => {
    expect(mountPoints()).toEqual(expect.arrayContaining(['/', '/proc']));
  });

  it('says where a directory stands, and nothing of one that is not there', () => {
    expect(describeCity('/proc/self')).toEqual({ fileSystem: '9fa0', mount: '/proc' });
    expect(describeCity('/nowhere-at-all')).toBeNull();
  });
});

describe('the mount of a directory', () => {
  it('is asked of the first few, then taken from its parent while nothing is mounted below the root', () =>
    withDirectory('/proc/self', (fd) => {
      const mounts = new Mounts('/proc/self/nothing-below');
      const answers = Array.from({ length: 12 }, () => mounts.of(fd, NONE, true, other()));
      expect(answers.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => mountOf(fd)));
      expect(answers.slice(6)).toEqual(Array.from({ length: 6 }, () => NONE));
    }));

  it('is asked once of the same directory at the same address, below the same mount', () =>
    withDirectory('/proc/self', (fd) => {
      const mounts = new Mounts('/proc/self/nothing-below');
      expect(mounts.of(fd, NONE, true, SAME)).toBe(mountOf(fd));
      const closed = 1_000_000; // asking of it would fail
      expect(mounts.of(closed, NONE, true, SAME)).toBe(mountOf(fd));
      const differing = [
        { ...SAME, inode: 2n },
        { ...SAME, address: 'hall' },
      ];
      for (const at of differing) expect(() => mounts.of(closed, NONE, true, at)).toThrow();
      expect(() => mounts.of(closed, NONE + 1, true, SAME)).toThrow();
      expect(() => mounts.of(closed, NONE, false, SAME)).toThrow();
    }));

  it('is asked of every one whose device is not its parent’s', () =>
    withDirectory('/proc/self', (fd) => {
      const mounts = new Mounts('/proc/self/nothing-below');
      for (let n = 0; n < 12; n++) expect(mounts.of(fd, NONE, false, SAME)).toBe(mountOf(fd));
    }));

  it('is asked of every one where something is mounted below the root', () =>
    withDirectory('/proc/self', (fd) => {
      const mounts = new Mounts('/');
      for (let n = 0; n < 12; n++) expect(mounts.of(fd, NONE, true, other())).toBe(mountOf(fd));
    }));
});
