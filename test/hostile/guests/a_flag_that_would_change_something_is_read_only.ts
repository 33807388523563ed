/** Opens a file and a directory with every flag that could change one, alone, and tells the codes. */
import { acts, answer, openAt, preopen, RET, sayResult, word, wordSize } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

function tryFlags(root: i32, name: usize, size: usize, openFlags: i32, flags: i32): void {
  openAt(root, 1, name, size, openFlags, flags, RET);
  sayResult(load<u8>(RET) === 0 ? 0 : ~(<i32>load<u8>(RET, 4)));
}

acts((): usize => {
  const root = preopen();
  const file = word('lab/notes.md');
  const fileSize = wordSize;
  const absent = word('lab/created.md');
  const absentSize = wordSize;
  for (let open = 1; open < 16; open <<= 1) if (open !== 2) tryFlags(root, file, fileSize, open, 1);
  for (let flag = 2; flag < 64; flag <<= 1) tryFlags(root, file, fileSize, 0, flag);
  tryFlags(root, file, fileSize, 15, 63);
  tryFlags(root, absent, absentSize, 1, 3);
  tryFlags(root, file, fileSize, 8, 1);
  return answer();
});
