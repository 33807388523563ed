/** Opens a name whose bytes are no text: told which. */
import { acts, alloc, answer, asked, open, preopen } from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

acts((): usize => {
  const name = alloc(8, 8);
  if (asked('a lone 0xff')) store<u8>(name, 0xff);
  else if (asked('a lone continuation')) store<u8>(name, 0x80);
  else if (asked('an overlong slash')) store<u16>(name, 0xafc0);
  else if (asked('a surrogate')) store<u32>(name, 0x0080a0ed);
  else if (asked('past U+10FFFF')) store<u32>(name, 0x808094f4);
  else if (asked('cut short')) store<u32>(name, 0x009f98f0);
  else unreachable();
  let size: usize = 0;
  while (load<u8>(name + size) !== 0) size++;
  open(preopen(), name, size, true, false);
  return answer();
});
