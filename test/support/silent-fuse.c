/*
 * A mount that does not answer, as a hung network share is one: a FUSE server of a tiny tree, spoken over the raw
 * /dev/fuse protocol (linux/fuse.h), without a library. Run as root: `silent-fuse MOUNTPOINT file|all`.
 *
 *   lab/good      a file that is served
 *   lab/silent    a file whose OPEN is never answered
 *
 * An open that waits is given up when its process is killed, as network file systems do it (a server that reads a
 * request and heeds no interrupt keeps even a killed process until it answers: nothing in that process can help).
 * With `all`, nothing is ever answered once the mount stands. Prints "ready" when it does, and
 * "asked" for each OPEN it leaves unanswered; ends, and takes the mount
 * away, when its standard input ends: whoever started it may die in any way.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOT = 1, LAB = 2, GOOD = 3, SILENT = 4 };
static const char TEXT[] = "a needle that is served\n";
static int device;

static void say(const char *word) {
  puts(word);
  fflush(stdout);
}

static void reply(uint64_t unique, int error, const void *body, size_t size) {
  char out[8192];
  struct fuse_out_header head = {(uint32_t)(sizeof head + size), error, unique};
  memcpy(out, &head, sizeof head);
  if (size > 0) memcpy(out + sizeof head, body, size);
  if (write(device, out, sizeof head + size) < 0 && errno != ENOENT) exit(2);
}

static struct fuse_attr attributes(uint64_t node) {
  int is_directory = node == ROOT || node == LAB;
  struct fuse_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.ino = node;
  attr.mode = is_directory ? S_IFDIR | 0755 : S_IFREG | 0644;
  attr.nlink = is_directory ? 2 : 1;
  attr.size = is_directory ? 0 : sizeof TEXT - 1;
  attr.blksize = 4096;
  return attr;
}

static uint64_t node_called(uint64_t parent, const char *name) {
  if (parent == ROOT && strcmp(name, "lab") == 0) return LAB;
  if (parent == LAB && strcmp(name, "good") == 0) return GOOD;
  if (parent == LAB && strcmp(name, "silent") == 0) return SILENT;
  return 0;
}

static void answer_lookup(const struct fuse_in_header *in, const char *name) {
  uint64_t node = node_called(in->nodeid, name);
  if (node == 0) {
    reply(in->unique, -ENOENT, NULL, 0);
    return;
  }
  struct fuse_entry_out entry;
  memset(&entry, 0, sizeof entry);
  entry.nodeid = node;
  entry.attr = attributes(node);
  reply(in->unique, 0, &entry, sizeof entry);
}

static size_t put_entry(char *at, uint64_t node, uint64_t offset, const char *name) {
  struct fuse_dirent entry = {node, offset, (uint32_t)strlen(name), node == LAB ? S_IFDIR >> 12 : S_IFREG >> 12};
  memcpy(at, &entry, FUSE_NAME_OFFSET);
  memcpy(at + FUSE_NAME_OFFSET, name, entry.namelen);
  return FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen);
}

static void answer_readdir(const struct fuse_in_header *in, const struct fuse_read_in *asked) {
  char list[512];
  memset(list, 0, sizeof list);
  size_t size = 0;
  if (asked->offset == 0 && in->nodeid == ROOT) size = put_entry(list, LAB, 1, "lab");
  if (asked->offset == 0 && in->nodeid == LAB) {
    size = put_entry(list, GOOD, 1, "good");
    size += put_entry(list + size, SILENT, 2, "silent");
  }
  reply(in->unique, 0, list, size);
}

static void answer_init(const struct fuse_in_header *in, const struct fuse_init_in *asked) {
  struct fuse_init_out out;
  memset(&out, 0, sizeof out);
  out.major = FUSE_KERNEL_VERSION;
  out.minor = FUSE_KERNEL_MINOR_VERSION < asked->minor ? FUSE_KERNEL_MINOR_VERSION : asked->minor;
  out.max_readahead = asked->max_readahead;
  out.max_write = 4096;
  reply(in->unique, 0, &out, sizeof out);
}

static void answer_open(const struct fuse_in_header *in) {
  struct fuse_open_out out;
  memset(&out, 0, sizeof out);
  if (in->nodeid != SILENT) reply(in->unique, 0, &out, sizeof out);
  else say("asked");
}

static void answer_getattr(const struct fuse_in_header *in) {
  struct fuse_attr_out out;
  memset(&out, 0, sizeof out);
  out.attr = attributes(in->nodeid);
  reply(in->unique, 0, &out, sizeof out);
}

static void answer_read(const struct fuse_in_header *in, const struct fuse_read_in *asked) {
  size_t size = sizeof TEXT - 1;
  size_t from = asked->offset < size ? asked->offset : size;
  reply(in->unique, 0, TEXT + from, size - from);
}

static void answer_statfs(const struct fuse_in_header *in) {
  struct fuse_statfs_out out;
  memset(&out, 0, sizeof out);
  out.st.bsize = out.st.frsize = 4096;
  out.st.namelen = 255;
  reply(in->unique, 0, &out, sizeof out);
}

static void answer(const struct fuse_in_header *in, const void *body, int is_silent) {
  if (in->opcode == FUSE_INIT) answer_init(in, body);
  else if (is_silent) return;
  else if (in->opcode == FUSE_LOOKUP) answer_lookup(in, body);
  else if (in->opcode == FUSE_GETATTR) answer_getattr(in);
  else if (in->opcode == FUSE_OPEN || in->opcode == FUSE_OPENDIR) answer_open(in);
  else if (in->opcode == FUSE_READDIR) answer_readdir(in, body);
  else if (in->opcode == FUSE_READ) answer_read(in, body);
  else if (in->opcode == FUSE_STATFS) answer_statfs(in);
  else if (in->opcode == FUSE_INTERRUPT) reply(((const struct fuse_interrupt_in *)body)->unique, -EINTR, NULL, 0);
  else if (in->opcode == FUSE_RELEASE || in->opcode == FUSE_RELEASEDIR || in->opcode == FUSE_FLUSH)
    reply(in->unique, 0, NULL, 0);
  else if (in->opcode != FUSE_FORGET && in->opcode != FUSE_BATCH_FORGET)
    reply(in->unique, -ENOSYS, NULL, 0);
}

static void serve(int is_silent) {
  static char request[1 << 17];
  struct pollfd ends[2] = {{device, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  while (poll(ends, 2, -1) >= 0) {
    if (ends[1].revents != 0) return;
    if (ends[0].revents == 0) continue;
    ssize_t size = read(device, request, sizeof request);
    if (size < 0 && errno == ENODEV) return;
    if (size < (ssize_t)sizeof(struct fuse_in_header)) continue;
    const struct fuse_in_header *in = (const struct fuse_in_header *)request;
    answer(in, request + sizeof *in, is_silent);
  }
}

int main(int count, char **words) {
  if (count != 3) return 2;
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) return 3;
  char options[128];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
  if (mount("silent", words[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) return 3;
  say("ready");
  serve(strcmp(words[2], "all") == 0);
  umount2(words[1], MNT_DETACH);
  return 0;
}
