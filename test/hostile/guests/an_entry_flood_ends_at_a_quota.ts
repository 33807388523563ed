/** Lists the city again and again until it is refused; tells how many names came. */
import {
  acts, answer, BUDGET, dropStream, list, preopen, readDirectoryEntry, RET, say, sayByte, sayNumber, sayResult,
} from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

acts((): usize => {
  const root = preopen();
  let names: u64 = 0;
  let stream = list(root);
  while (stream >= 0) {
    for (;;) {
      readDirectoryEntry(stream, RET);
      if (load<u8>(RET, 4) === 0) break;
      names++;
    }
    dropStream(stream);
    stream = list(root);
  }
  say('names ');
  sayNumber(names);
  sayByte(0x0a);
  sayResult(stream);
  return answer(BUDGET);
});
