/** Passes over the file as it should and then answers with the lie that the file's name is. */
import {
  alloc, asked, cut, DONE, FAILED, GOING, memorySize, NOT_TEXT, passOver, reading, READING, reads, slice, whole,
} from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

function filled(size: usize): usize {
  const text = alloc(size, 1);
  memory.fill(text, 0x61, size);
  return text;
}

reads((): usize => {
  const size = passOver();
  // The file holds three lines.
  if (asked('a text of 1 MiB and a byte')) return slice(filled(1_048_577), 1_048_577, 1, 3, 1);
  if (asked('a text of 1 GiB')) return slice(whole, 1 << 30, 1, 3, 1);
  if (asked('a text past memory')) return slice(memorySize() - 1, 2, 1, 3, 1);
  if (asked('a text that is not UTF-8')) {
    store<u8>(whole, 0xff);
    return slice(whole, size, 3, 3, 0);
  }
  if (asked('two lines over the cap')) {
    const text = filled(65_538);
    store<u8>(text, 0x0a, 9);
    return slice(text, 65_538, 2, 3, 1);
  }
  if (asked('513 lines')) {
    const text = alloc(513, 1);
    memory.fill(text, 0x0a, 513);
    return slice(text, 513, 513, 513, 0);
  }
  if (asked('more lines than the text has')) return slice(whole, size, 4, 4, 0);
  if (asked('fewer lines than the text has')) return slice(whole, size, 2, 3, 1);
  if (asked('fewer in total than given')) return slice(whole, size, 3, 2, 0);
  if (asked('more in total than bytes')) return slice(whole, size, 3, 1_000, 1);
  if (asked('more without lines')) return slice(whole, 0, 0, 3, 1);
  if (asked('more and none left')) return slice(whole, size, 3, 3, 1);
  if (asked('no more and some left')) return slice(whole, size, 3, 4, 0);
  if (asked('a text longer than the file')) return slice(filled(1_000), 1_000, 1, 1, 0);
  if (asked('cut without more')) {
    slice(filled(1_048_576), 1_048_576, 0, 3, 0);
    return cut(1_048_576, 1);
  }
  if (asked('cut with a line')) {
    slice(whole, size, 3, 3, 1);
    return cut(<u64>size, 1);
  }
  if (asked('cut of nothing')) {
    slice(whole, 0, 0, 3, 1);
    return cut(0, 9);
  }
  if (asked('cut short of the cap')) {
    slice(whole, 2, 0, 3, 1);
    return cut(2, 9);
  }
  if (asked('cut with nothing left')) {
    slice(filled(1_048_576), 1_048_576, 0, 3, 1);
    return cut(1_048_576, 0);
  }
  if (asked('cut to another place')) {
    slice(filled(1_048_576), 1_048_576, 0, 3, 1);
    return cut(7, 9);
  }
  if (asked('cut past 2^53')) {
    slice(filled(1_048_576), 1_048_576, 0, 3, 1);
    return cut(u64.MAX_VALUE, 1);
  }
  if (asked('a total past 2^53')) return slice(whole, size, 3, u64.MAX_VALUE, 1);
  if (asked('a bool of 2')) return slice(whole, size, 3, 3, 2);
  if (asked('an option of 2')) {
    slice(whole, size, 3, 3, 0);
    store<u8>(READING, 2, 40);
    return READING;
  }
  if (asked('no such case')) return reading(6);
  if (asked('case 255')) return reading(255);
  if (asked('no such looks')) {
    store<u8>(READING, 4, 8);
    return reading(NOT_TEXT);
  }
  if (asked('no such code')) {
    store<u8>(READING, 37, 8);
    return reading(FAILED);
  }
  if (asked('going past 2^53')) {
    store<u64>(READING, u64.MAX_VALUE, 8);
    return reading(GOING);
  }
  if (asked('a reading past memory')) return memorySize() - 56;
  if (asked('a reading at 2^31')) return 0x8000_0000;
  if (asked('a reading unaligned')) return reading(DONE) + 4;
  if (asked('a budget that is not spent')) {
    store<u8>(READING, 6, 8);
    return reading(FAILED);
  }
  return slice(whole, size, 3, 3, 0);
});
