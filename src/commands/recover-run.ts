/**
 * One run of `recover`: the stack with its ledger, the question before the ledger is written, the lock for the write, and the answer as
 * JSON.
 */
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import type { Ledger } from '../model/ledger.ts';
import { addressMembers, diagnosticsMember, renderJson } from '../report/json/render-json.ts';
import type { CommonOptions } from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { notWritten } from '../run/consent.ts';
import type { ExitCode } from '../run/exit-codes.ts';
import { endAfter, holdLock } from '../run/lock.ts';
import type { StackLedger } from '../run/open-ledger.ts';
import { identifyRun } from '../run/origin.ts';
import { type CommandContext, printJson, textOutput } from '../run/terminal.ts';

export interface RecoverRun extends CommandContext, StackLedger {
  /** of the stack as typed */
  readonly path: string | undefined;
  readonly options: RecoverOptions;
}

export interface RecoverOptions extends CommonOptions {
  readonly yes?: boolean;
  /** this repository continues another one */
  readonly adoptRepository?: boolean;
  /** the target whose address changed */
  readonly moved?: string;
}

/** Asks whether the ledger may be written, unless `--yes` was given. @throws CommandStop when it may not */
export async function askToWrite({ options, host, terminal, stop }: RecoverRun): Promise<void> {
  if (options.yes) return;
  if (!host.interactive || terminal.format !== 'text')
    throw new CommandStop(
      'nobody-to-ask',
      'nothing was written: recover asks before it writes; where nobody can answer, pass --yes',
    );
  if (!(await host.confirm('Write this ledger?', stop))) throw notWritten(terminal, stop);
}

export async function underLock(
  { store, stack, path, stop, time: { deadline }, terminal }: RecoverRun,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const run = identifyRun(terminal.host);
  const held = await holdLock({ store, stack: stack.name, run, timeout: 0, path, stop, deadline }, terminal);
  return endAfter(work, held.release);
}

/** Prints a line in text format; the JSON answer has the same information. */
export function say({ terminal }: CommandContext, line = ''): void {
  textOutput(terminal)?.write(`${line}\n`);
}

/** What a recovery does, for the JSON answer. */
export interface Recovery {
  readonly action: 'none' | 'rebuild' | 'adopt-repository' | 'move-target';
  readonly records: Ledger['records'];
  readonly target?: string;
  readonly was?: string | undefined;
  readonly is?: string;
  /** ids in ownership tags, and the addresses that have them */
  readonly ids?: ReadonlyMap<string, readonly string[]>;
  readonly notRecorded?: readonly { readonly address: Address; readonly message: string }[];
  readonly releases?: readonly Address[];
  readonly next?: readonly Pick<Change, 'address' | 'action'>[];
  readonly setAside?: string;
}

/** Sets the answer as JSON. It is valid against its schema. @param isWritten false before the user has agreed */
export function answer({ terminal, stack, store }: RecoverRun, recovery: Recovery, isWritten: boolean): void {
  const { action, records, ids = new Map(), notRecorded = [], releases = [], next, ...about } = recovery;
  printJson(terminal, (reported) =>
    renderJson({
      version: 1,
      stack: stack.name,
      place: store.place,
      action,
      written: isWritten,
      ...about,
      ids: [...ids].map(([id, resources]) => ({ id, resources })),
      records: [...records].map(([text, { origin, fields }]) => ({
        ...addressMembers(parseAddress(text)),
        origin,
        fields: Object.keys(fields).length,
      })),
      notRecorded: notRecorded.map(({ address, message }) => ({ ...addressMembers(address), message })),
      releases: releases.map(formatAddress),
      ...(next && {
        next: next.map((change) => ({ ...addressMembers(change.address), action: change.action })),
      }),
      ...diagnosticsMember(reported),
    }),
  );
}
