/** The texts that putter.mjs stores: of any size up to a few hundred KiB, the same for the same number. */

export const textOf = (prefix, number) => `${prefix} ${number}\n`.repeat(((number + 1) * 7_919) % 40_000);
