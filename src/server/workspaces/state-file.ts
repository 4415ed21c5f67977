/**
 * The files of state versions (the state and the JSON state), which are written and read in parts.
 * Invariants: at most one part of a file is in memory; the parts of an incomplete file are removed.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../kernel/database.ts';
import { type ApiError, badRequest, invalid, notFound, tooLarge } from '../kernel/documents.ts';
import { FILE_LIMIT_BYTES, type FileContent } from '../kernel/signed-links.ts';
import { JsonScanner, KEPT_LIMIT, TooLongError } from './json-scanner.ts';
import { RootReader, StateReader } from './state-outputs.ts';

export type FileKind = 'state' | 'json-state';

const PART_BYTES = 1024 * 1024;

/** A file that is being uploaded, read while it arrives. */
export class IncomingFile {
  readonly state = new StateReader();
  /** For a JSON state, where only the root is checked. */
  readonly #root = new RootReader();
  readonly kind: FileKind;
  readonly #isInBody: boolean;
  readonly #database: Database;
  readonly #id: number;
  readonly #md5 = createHash('md5');
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #scanner: JsonScanner;
  /** The part that is being filled. */
  readonly #part = Buffer.allocUnsafe(PART_BYTES);
  #filled = 0;
  #parts = 0;
  #size = 0;

  /** Begins a file of this version, from a body or an upload to its link. Several uploads of one file may run at the same time. */
  constructor(
    database: Database,
    versionId: string,
    { kind, isInBody }: { readonly kind: FileKind; readonly isInBody: boolean },
  ) {
    this.kind = kind;
    this.#isInBody = isInBody;
    this.#database = database;
    this.#scanner = new JsonScanner(kind === 'state' ? this.state : this.#root);
    const row = database.get<{ id: number }>(
      'INSERT INTO state_files (state_version_id, kind) VALUES (:version, :kind) RETURNING id',
      { version: versionId, kind },
    );
    this.#id = row?.id ?? 0;
  }

  /** @throws ApiError 400, 404, 413 or 422; then call `giveUp` */
  write(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > FILE_LIMIT_BYTES) throw tooLarge('file', FILE_LIMIT_BYTES);
    this.#md5.update(bytes);
    this.#read(bytes);
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(this.#part, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === PART_BYTES) this.#keep();
    }
  }

  /** Completes the file; call `store` afterwards. @returns its MD5 @throws ApiError 400 or 422 */
  end(): string {
    this.#read(undefined);
    if (this.#filled > 0) this.#keep();
    if (!this.state.isObject && !this.#root.isObject) throw this.#notAnObject();
    return this.#md5.digest('hex');
  }

  /** Makes the complete file visible as the file of its version. */
  store(md5: string): void {
    this.#database.run('UPDATE state_files SET size = :size, md5 = :md5 WHERE id = :id', {
      id: this.#id,
      size: this.#size,
      md5,
    });
  }

  /** Removes the parts that have arrived. */
  giveUp(): void {
    this.#database.delete('state_files', this.#id);
  }

  /** Undefined means the end of the file. */
  #read(bytes: Buffer | undefined): void {
    let text: string;
    try {
      text = bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true });
    } catch {
      throw this.#isInBody ? this.#refused(`${this.kind} is not UTF-8`) : badRequest('The file is not UTF-8');
    }
    try {
      this.#scanner.push(text);
      if (bytes === undefined) this.#scanner.end();
    } catch (error) {
      if (error instanceof TooLongError)
        throw this.#refused(`The outputs of a state have at most ${KEPT_LIMIT} characters`);
      if (error instanceof SyntaxError) throw this.#notAnObject();
      throw error;
    }
  }

  #keep(): void {
    // Its version may have been deleted or replaced during the upload.
    const kept = this.#database.run(
      `INSERT INTO state_file_parts (file_id, position, bytes)
       SELECT id, :position, :bytes FROM state_files WHERE id = :id`,
      { id: this.#id, position: this.#parts, bytes: this.#part.subarray(0, this.#filled) },
    );
    if (kept === 0) throw notFound('File');
    this.#parts += 1;
    this.#filled = 0;
  }

  #notAnObject(): ApiError {
    return this.#refused(`The ${this.kind === 'state' ? 'state' : 'JSON state'} is not a JSON object`);
  }

  #refused(detail: string): ApiError {
    return invalid([{ detail, pointer: `/data/attributes/${this.kind}` }]);
  }
}

/** The complete file of a version; undefined if there is none. */
export function wholeFile(database: Database, versionId: string, kind: FileKind): FileContent | undefined {
  const file = database.get<{ id: number; size: number }>(
    `SELECT id, size FROM state_files
     WHERE state_version_id = :version AND kind = :kind AND size IS NOT NULL`,
    { version: versionId, kind },
  );
  return file && { size: file.size, parts: partsOf(database, file) };
}

function* partsOf(
  database: Database,
  { id, size }: { readonly id: number; readonly size: number },
): Generator<Buffer> {
  let yielded = 0;
  for (let position = 0; yielded < size; position += 1) {
    const part = database.get<{ bytes: Uint8Array }>(
      'SELECT bytes FROM state_file_parts WHERE file_id = :id AND position = :position',
      { id, position },
    );
    if (part === undefined) throw new Error('the state version was deleted while its file was read');
    yielded += part.bytes.byteLength;
    yield Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength);
  }
}

/** Removes files that were incomplete when the service stopped. */
export function removeUnfinishedFiles(database: Database): void {
  database.run('DELETE FROM state_files WHERE size IS NULL');
}
