/** Caps enough for every hit of a bench, within what the WIT can carry. */
export const LIFTED = { matchCap: 10_000_000, textCap: 1 << 30, fileCap: 1_048_576 };
