/** Opens 4 000 places of different names, 60 KB each, that are not there; and a path that grows with each open. */
import { acts, alloc, answer, asked, open, preopen, sayResult, word } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

const SIZE: usize = 60_000;

acts((): usize => {
  const root = preopen();
  const name = alloc(SIZE, 8);
  memory.fill(name, 0x78, SIZE);
  if (asked('a path that grows')) {
    for (let i: usize = 0; i < 8_000; i++) store<u16>(name + 2 * i, 0x2f2e); // ./
    let here = open(root, word('lab'), 3, false, true);
    let last = here;
    for (let i = 0; i < 1_000 && here >= 0; i++) {
      here = open(here, name, 4_001, false, true);
      if (here >= 0) last = here;
      open(last, name, 4_000, false, false);
    }
    sayResult(here);
    return answer();
  }
  let result = 0;
  for (let i: u32 = 0; i < 4_000; i++) {
    for (let digit: usize = 0; digit < 5; digit++) store<u8>(name + digit, <u8>(97 + ((i >> (<u32>digit * 4)) & 15)));
    store<u8>(name + SIZE - 2, 0x2f);
    result = open(root, name, SIZE, true, false);
  }
  sayResult(result);
  return answer();
});
