/** What the operating system says of files and connections in a code, in words with a way out. */

const words: Readonly<Record<string, string>> = {
  EACCES: 'this user may not do that; check the rights of it and of its folders',
  EPERM: 'this user may not do that; check the rights of it and of its folders',
  EISDIR: 'it is a directory; name a file in it',
  ENOTDIR: 'a part of its path is no directory; check the path',
  ENOENT: 'there is no such file or folder; check the path',
  ENOSPC: 'there is no room left on the disk; make some, or name a place elsewhere',
  EROFS: 'nothing can be written to that disk; name a place elsewhere',
  ECONNREFUSED: 'nothing listens there; check host and port, and that the server is up',
  ENOTFOUND: 'there is no host of that name; check the address',
  EAI_AGAIN: 'its name cannot be resolved for now; check the address and the DNS server',
  ETIMEDOUT: 'it does not answer; check host, port, network and firewall',
  ECONNRESET: 'it broke the connection; check that host and port are those of the server',
};

/** Undefined for what has no code, or one that needs no words. */
export function systemWords(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? words[String(error.code)] : undefined;
}
