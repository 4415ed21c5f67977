/**
 * Moves a ledger: an unfinished copy is written and verified, the original is closed, and the copy is opened. A crash between any two
 * steps leaves exactly one of both in use (`run/moved-ledger.ts`), and the same command continues.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { contentText, formatStored } from '../../ledger/ledger-text.ts';
import { contentStart, editText } from '../../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { findRepository, standardInput } from '../../manifest/files/find-stack.ts';
import { ledgerDocument } from '../../manifest/ledger-place.ts';
import { isStack } from '../../manifest/load-documents.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { createSourceText } from '../../manifest/yaml/yaml-document.ts';
import { type HistoryEntry, type Ledger, LedgerError, type LedgerMove } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { LedgerPlace, Stack } from '../../model/stack.ts';
import { redactEntry } from '../../redaction/stored-values.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { repositoryMember } from '../../run/ledger-head.ts';
import { storedLedger } from '../../run/ledger-redaction.ts';
import type { HeldLock } from '../../run/lock.ts';
import type { FileChange } from '../../run/manifest-edits/write-files.ts';
import { printNote, type Terminal } from '../../run/terminal.ts';
import { type Ends, type MoveContext, openAt, type Task } from './move-ends.ts';

interface Steps extends MoveContext {
  readonly ends: Ends;
  readonly locks: readonly Pick<HeldLock, 'lockGuard'>[];
  readonly terminal: Terminal;
}

/** Entries are written in groups, so that a store is not asked for each of them, nor for all of a long history at once. */
const groupSize = 100;

/** @throws LedgerError; what is in use then is printed */
export async function carryOver(task: Exclude<Task, { is: 'done' }>, steps: Steps): Promise<Ledger> {
  const { from, to } = steps.ends;
  let isClosed = task.is === 'open';
  try {
    const copy = task.is === 'open' ? task.copy : await makeCopy(task, steps);
    if (task.is === 'copy') {
      await checkLocks(steps);
      await close(task.ledger, copy, steps);
    }
    isClosed = true;
    const { copiedFrom: _, ...content } = copy;
    return await to.store.write(content);
  } catch (error) {
    const used = isClosed ? `${to.store.place} is the ledger now` : `${from.store.place} was not closed`;
    printNote(steps.terminal, `${used}: nothing is lost, and the same command continues the move`);
    throw error;
  }
}

/** @returns the copy as it is stored, which is not opened yet */
async function makeCopy({ ledger, entries }: Extract<Task, { is: 'copy' }>, steps: Steps): Promise<Ledger> {
  const { stack, host, ends } = steps;
  const { from, to } = ends;
  const copiedFrom: LedgerMove = { id: host.newId(), place: from.place, at: now(steps) };
  const { serial } = await to.store.read();
  const { movedTo: _, ...content } = storedLedger(ledger, stack.name, host.clean);
  const repository = await withRemote(ledger, steps);
  const copy = await to.store.write({ ...content, ...repository, serial, copiedFrom });
  const wanted = entries.map((entry) => redactEntry(entry, host.clean));
  const ids = new Set(wanted.map(({ id }) => id));
  const there = await to.store.listEntries(Number.MAX_SAFE_INTEGER);
  // Left by an earlier move of this ledger, and dropped since then.
  const left = there.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
  if (left.length > 0) await to.store.removeEntries(left);
  for (let at = 0; at < wanted.length; at += groupSize)
    await to.store.keepEntries(wanted.slice(at, at + groupSize));
  await verify({ ledger: copy, entries: wanted }, steps);
  return copy;
}

/** The repository got its remote after the last apply, if this is still the same stack file. */
async function withRemote(
  { repository: known }: Ledger,
  { stack, host }: Steps,
): Promise<Pick<Ledger, 'repository'>> {
  if (known === undefined || known.remote !== undefined) return {};
  const { repository } = await repositoryMember(stack, host);
  return repository?.path === known.path ? { repository } : {};
}

/** Reads the copy back over a new connection. @throws LedgerError when anything differs */
async function verify(
  { ledger, entries }: { readonly ledger: Ledger; readonly entries: readonly HistoryEntry[] },
  steps: Steps,
): Promise<void> {
  const { stack, ends } = steps;
  const store = await openAt(ends.to.place, steps);
  try {
    const read = await store.read();
    const isSame =
      read.copiedFrom?.id === ledger.copiedFrom?.id &&
      contentText(stack.name, read) === contentText(stack.name, ledger);
    if (!isSame) throw differs(store.place, 'its records or its state');
    const found = await store.listEntries(Number.MAX_SAFE_INTEGER);
    const texts = (all: readonly HistoryEntry[]) => all.map(formatStored).sort().join('');
    if (texts(found) !== texts(entries)) throw differs(store.place, 'its history');
  } finally {
    await store.close();
  }
}

function differs(place: string, what: string): LedgerError {
  return new LedgerError(
    `${what} in ${place} is not what was written there, as reading it back shows: check that store`,
  );
}

/** The closed original keeps its content: no command reads it any more. */
async function close(ledger: Ledger, { copiedFrom }: Ledger, steps: Steps): Promise<void> {
  const { from, to } = steps.ends;
  if (copiedFrom === undefined) throw new Error(`the copy in ${quoted(to.store.place)} has no mark`);
  await from.store.write({ ...ledger, movedTo: { ...copiedFrom, place: to.place } });
}

async function checkLocks({ locks }: Steps): Promise<void> {
  for (const { lockGuard } of locks) await lockGuard.check();
}

function now({ host }: Steps): string {
  return new Date(host.now()).toISOString();
}

// Changes "spec.ledger" in the stack file: every other character stays as it is.

/** @throws CommandStop when the file cannot be changed in place */
export async function draftStackFile(
  { file, directory }: Pick<Stack, 'file' | 'directory'>,
  place: LedgerPlace,
  cwd: string,
): Promise<FileChange> {
  if (file === standardInput)
    throw new CommandStop('stack-file-needed', '--write needs a stack file: this stack is on standard input');
  const path = resolve(cwd, file);
  const before = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  const source = createSourceText(file, before);
  const { documents } = parseDocuments(source);
  // Without the member "kind", the only document is the stack.
  const document = documents.find(isStack) ?? documents[0];
  if (document === undefined) throw notEditable(file, 'it has no stack');
  const value = ledgerDocument(place);
  try {
    const edit = { at: contentStart(document), values: [{ path: ['spec', 'ledger'], value }] };
    return {
      file: path,
      repository: await findRepository(directory),
      before,
      after: editText(source, [edit]),
    };
  } catch (error) {
    if (error instanceof UnusualYaml) throw notEditable(file, error.message);
    throw error;
  }
}

function notEditable(file: string, why: string): CommandStop {
  return new CommandStop(
    'not-editable',
    `nothing was moved: ${quoted(file)} cannot be changed in place: ${why}; leave out --write, and edit it by hand`,
  );
}
