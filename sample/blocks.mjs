/**
 * What is stored as blocks in the sample city, and under which Locator each comes to stand. Put there by make.mjs, read by
 * the tour: an agent's words that were said before its context was compacted, and a page that nobody stored for anybody.
 */

const text = (...lines) => `${lines.join('\n')}\n`;

/** Each: its text, the place it was stored for (none: no run reads it), and its Locator. */
export const BLOCKS = {
  said: {
    locator: 'cas:b3-861fc6f18627aa542f168ad2b98acf4ea412c6fd34908a624d08266933fe236d',
    for: 'hall',
    run: 'clerk-7',
    text: text(
      'clerk: Is the sluice to follow gauge 7 again before the levelling is done?',
      'lab: No. Its zero has moved by 4 cm against the benchmark in the church wall.',
      'clerk: Then I write that the sluice follows gauge 3 until you have levelled.',
    ),
  },
  strayed: {
    locator: 'cas:b3-3ca1dd6bbabdd1f72e11fdd8a3953d0e5b4cdbbd4d2b88d5c27c5fda07189421',
    text: text('A page that was stored for nobody.'),
  },
};
