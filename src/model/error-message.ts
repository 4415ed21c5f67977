/** Messages of thrown values, which need not be `Error`s, and of error codes of the operating system, each with a fix. */

/** The message of an error; any other thrown value as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

// Messages with a fix for error codes of the operating system about files and connections.

const messages: Readonly<Record<string, string>> = {
  EACCES: 'this user may not do that; check the permissions of the path and of its parent folders',
  EPERM: 'this user may not do that; check the permissions of the path and of its parent folders',
  // From Node's permission model, in a check that a worker of a fleet started.
  ERR_ACCESS_DENIED: 'fleet.yaml does not allow this file to the stacks of the repository',
  EISDIR: 'it is a directory; name a file in it',
  ENOTDIR: 'a part of its path is not a directory; check the path',
  ENOENT: 'there is no such file or folder; check the path',
  ENAMETOOLONG: 'its name is too long; check the path',
  ELOOP: 'too many links lead to one another; check the path',
  ENOSPC: 'there is no room left on the disk; make some, or name a place elsewhere',
  EDQUOT: 'there is no room left for this user on the disk; make some, or name a place elsewhere',
  EFBIG:
    'the file would be larger than is allowed there; raise the limit (ulimit -f), or name a place elsewhere',
  EROFS: 'nothing can be written to that disk; name a place elsewhere',
  ECONNREFUSED: 'nothing listens there; check host and port, and that the server is up',
  ENOTFOUND: 'there is no host of that name; check the address',
  EAI_AGAIN: 'its name cannot be resolved for now; check the address and the DNS server',
  ETIMEDOUT: 'it does not answer; check host, port, network and firewall',
  ECONNRESET: 'it broke the connection; check that host and port are those of the server',
};

/** A clause for an error with a known code; undefined for any other. */
export function systemErrorMessage(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? messages[String(error.code)] : undefined;
}

/**
 * Sets the path of a system error to the file that should be written. The error has no path if a write fails after the file was
 * opened, such as on a full disk, or it has the path of the temporary file, which users do not know.
 */
export function withPath(error: unknown, path: string): unknown {
  return error instanceof Error && 'syscall' in error ? Object.assign(error, { path }) : error;
}
