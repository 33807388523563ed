/** Reads with lengths and offsets that no file has, and tells what came. */
import { acts, answer, openWord, preopen, readAt, RET, say, sayByte, sayNumber, sayResult } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

function tellRead(file: i32, length: u64, from: u64): void {
  readAt(file, length, from, RET);
  if (load<u8>(RET) !== 0) return sayResult(~(<i32>load<u8>(RET, 4)));
  sayNumber(<u64>load<usize>(RET, 8));
  say(load<u8>(RET, 12) !== 0 ? ' end' : '');
  sayByte(0x0a);
}

acts((): usize => {
  const file = openWord(preopen(), 'lab/notes.md', false);
  tellRead(file, u64.MAX_VALUE, 0);
  tellRead(file, 256 << 20, 0);
  tellRead(file, 0, 0);
  tellRead(file, u64.MAX_VALUE, u64.MAX_VALUE);
  tellRead(file, 1, 1 << 63);
  tellRead(file, 1, (1 << 53) - 1);
  return answer();
});
