/**
 * Exports live resources without an owner as manifests: reads them in bulk, checks the drafts, writes them, and reports what was
 * left out. Changes no service.
 */
import { statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import type { Manifests } from '../../manifest/read-manifests.ts';
import { type AddressText, formatAddress } from '../../model/address.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { LiveSet, Registry } from '../../model/kind.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { Stack, Target } from '../../model/stack.ts';
import { printable } from '../../report/view/printable.ts';
import type { CommonOptions } from '../command-options.ts';
import { type Connected, connectToRead } from '../connect.ts';
import { CommandStop } from '../command-stop.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import type { CliHost } from '../host.ts';
import { loadManifests } from '../load-manifests.ts';
import { dialectProblem } from '../make-plan.ts';
import { type StackLedger, withStackLedger } from '../open-ledger.ts';
import { LiveProjects, type LiveSelection, selectLive } from '../selection/select-live.ts';
import { listenForEnd, raceStop } from '../stop-signals.ts';
import { type CommandContext, printDiagnostics } from '../terminal.ts';
import { type Checked, checkManifests, type DraftedManifest, draftManifests } from './draft.ts';
import { groupFiles, type Grouping, writeExport } from './files.ts';
import {
  type ExportedTarget,
  type ExportReading,
  openReadProgress,
  readExport,
  type ReadProgress,
  readRest,
} from './read.ts';

export interface ExportOptions extends CommonOptions {
  /** a directory, or `-` for standard output */
  readonly out: string;
  readonly group: Grouping;
  readonly target: readonly string[];
  readonly kind: readonly string[];
  readonly name: readonly string[];
  readonly tag: readonly string[];
  readonly project?: string;
  readonly all?: boolean;
  readonly force?: boolean;
}

interface ExportJob {
  readonly stack: Stack;
  /** absolute path of the stack file */
  readonly file: string;
  readonly declared: ReadonlySet<AddressText>;
  readonly targets: readonly Target[];
  /** names of kinds */
  readonly wanted: ReadonlySet<string>;
}

/** The parents that were read, while the targets are still connected. */
export interface LiveExport {
  readonly job: ExportJob;
  readonly readings: readonly ExportReading[];
  /** aborted by the first signal */
  readonly stop: AbortSignal;
  /** Reads the children of the parents, drafts the manifests, checks them, and writes those that can be adopted without a problem. */
  write(): Promise<ExitCode>;
}

export async function exportLive(
  path: string | undefined,
  options: ExportOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const found =
    options.out !== '-' && statSync(resolve(context.host.cwd, options.out), { throwIfNoEntry: false });
  if (found && !found.isDirectory())
    throw new CommandStop(
      'output-refused',
      `nothing was written: ${quoted(options.out)} is not a directory; give "--out" another name`,
    );
  return withLiveExport(path, options, context, (live) => live.write());
}

/** Reads what the flags select, and closes the connections after `work`. */
export function withLiveExport(
  path: string | undefined,
  options: ExportOptions,
  context: CommandContext,
  work: (live: LiveExport) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { host, terminal } = context;
  const about = { host, stops: listenForEnd(host), timeout: options.timeout };
  return withStackLedger(path, about, async (run) => {
    const diagnostics = run.diagnostics.filter(preventsExport);
    if (path === '-') {
      printDiagnostics(terminal, diagnostics);
      throw new CommandStop('stack-file-needed', 'an export needs a stack with a file, not standard input', {
        exit: exitCodeOf(run.diagnostics) || exitCodes.error,
      });
    }
    if (hasErrors(diagnostics)) throw CommandStop.ofProblems(diagnostics);
    const projects = new LiveProjects();
    const selection =
      options.select === undefined ? undefined : selectLive(options.select, host.kinds, projects);
    const job = makeJob(run, { ...options, selection }, context);
    const connected = await connectToRead({ ...job.stack, targets: job.targets }, host, run.time);
    const { stop } = run;
    const progress = openReadProgress(terminal);
    try {
      const reading = { run, connected, progress, host, selection, projects };
      const readings = await raceStop(readTargets(job, options, reading), stop);
      selection?.refuseUnmatched();
      refuseUnknown(options.project, projects);
      const differing = connected.targets.flatMap((target) => dialectProblem(target) ?? []);
      if (hasErrors(differing)) throw CommandStop.ofProblems(differing);
      const write = async () => {
        const rest = Promise.all(readings.map(readRest)).finally(() => progress.end());
        return writeLive({ job, targets: await raceStop(rest, stop) }, { options, context });
      };
      return await work({ job, readings, stop, write });
    } finally {
      await connected.close();
    }
  });
}

interface ExportWriting {
  readonly options: ExportOptions;
  readonly context: CommandContext;
}

async function writeLive(
  { job, targets }: Pick<ExportResult, 'job' | 'targets'>,
  { options, context }: ExportWriting,
): Promise<ExitCode> {
  const { stack } = job;
  const { host } = context;
  const { kinds, secrets } = host;
  const drafted = targets.flatMap((target) => draftManifests(target, { stack, kinds, secrets }));
  const isSecret = ({ address }: DraftedManifest) => secrets.isIn(address.name);
  const withSecretName = drafted.filter(isSecret);
  const found = await checkManifests(
    drafted.filter((one) => !isSecret(one)),
    { ...job, kinds: host.kinds, targets },
  );
  const checked = { ...found, refused: [...found.refused, ...withSecretName.map(secretName)] };
  await writeExport(checked.manifests, stack, { options, host });
  await report({ job, targets, checked, options }, context);
  const isWhole = targets.every(({ sets }) =>
    [...sets.values()].every((set) => set.incomplete.length === 0 || isLeftOut(set, options)),
  );
  return isWhole && checked.refused.length === 0 ? exitCodes.done : exitCodes.error;
}

/** Whether the token may not list a kind that the user did not name: then the export is complete without it. */
function isLeftOut({ forbidden }: LiveSet, { kind, select }: ExportOptions): boolean {
  return forbidden === true && kind.length === 0 && select === undefined;
}

/** Why a resource is left out whose name contains a secret: its file would contain the name. */
function secretName({ address }: DraftedManifest): string {
  return `${formatAddress(address)}: its name contains a secret of this run`;
}

/** @throws CommandStop for a project that does not exist, is ambiguous, or cannot be looked up */
function refuseUnknown(project: string | undefined, projects: LiveProjects): void {
  const text = `--project ${project}`;
  const problems = project === undefined ? [] : projects.problemOf(project, { text });
  if (problems.length > 0) throw CommandStop.ofProblems(problems);
}

/** Missing manifests do not matter: exports are for stacks that have none yet. */
function preventsExport({ code }: Manifests['diagnostics'][number]): boolean {
  return code !== 'no-file' && code !== 'no-manifests';
}

/** The job that the flags describe. @throws CommandStop when one names something that does not exist */
function makeJob(
  { stack, resources }: StackLedger,
  options: ExportOptions & Pick<Reading, 'selection'>,
  { host }: CommandContext,
): ExportJob {
  const unknown = options.target.find((name) => !stack.targets.some((target) => target.name === name));
  if (unknown !== undefined) {
    const known = stack.targets.map(({ name }) => name).join(', ');
    throw new CommandStop('unknown-target', `the stack has no target ${quoted(unknown)}: it has ${known}`);
  }
  const wanted = kindsOf(options.kind, host.kinds);
  return {
    stack,
    file: join(stack.directory, basename(stack.file)),
    declared: new Set(resources.map(({ address }) => formatAddress(address))),
    targets: stack.targets.filter(
      (target) =>
        (options.target.length === 0 || options.target.includes(target.name)) &&
        options.selection?.mayBeIn(target) !== false,
    ),
    wanted,
  };
}

function kindsOf(names: readonly string[], kinds: Registry): ReadonlySet<string> {
  const known = [...kinds.keys()];
  if (names.length === 0) return new Set(known);
  const found = names.map((name) => known.find((kind) => kind.toLowerCase() === name.toLowerCase()));
  const missing = names[found.indexOf(undefined)];
  if (missing !== undefined)
    throw new CommandStop(
      'unknown-kind',
      `there is no kind ${quoted(missing)}: there are ${known.join(', ')}`,
    );
  return new Set(found.filter((kind) => kind !== undefined));
}

interface Reading {
  readonly host: CliHost;
  readonly run: StackLedger;
  readonly connected: Connected;
  readonly progress: ReadProgress;
  readonly selection: LiveSelection | undefined;
  readonly projects: LiveProjects;
}

async function readTargets(
  { stack, wanted, declared }: ExportJob,
  options: ExportOptions,
  { host, run: { store }, connected, progress, selection, projects }: Reading,
): Promise<ExportReading[]> {
  const { name: names, tag: tags, project, all = false } = options;
  const ledger = await store.read();
  try {
    const request = {
      kinds: host.kinds,
      wanted,
      filters: { names, tags, all, ...(project === undefined ? {} : { project }) },
      selection,
      projects,
      owners: { stack, declared, ledger },
      progress,
    };
    return await Promise.all(connected.targets.map((target) => readExport(target, request)));
  } finally {
    progress.end();
  }
}

interface ExportResult {
  readonly job: ExportJob;
  readonly targets: readonly ExportedTarget[];
  readonly checked: Checked;
  readonly options: ExportOptions;
}

/** Reports on stderr, because the manifests may be on stdout. */
async function report(result: ExportResult, { host, terminal }: CommandContext): Promise<void> {
  const { checked, targets, options } = result;
  const print = (line: string) => host.stderr.write(`${printable(line)}\n`);
  const warn = (line: string) =>
    host.stderr.write(`${terminal.errorPaint.warning('warning')}: ${printable(line)}\n`);
  for (const line of targets.flatMap((target) => unreadOf(target, options))) warn(line);
  for (const line of withoutUnread(targets)) print(line);
  for (const { names } of targets)
    for (const [objectType, { problem }] of names)
      if (problem !== undefined) warn(`ids are written in place of the names of ${objectType}s: ${problem}`);
  for (const why of checked.refused) warn(`left out: ${why}`);
  for (const why of checked.differing) warn(why);
  print(exportedLine(checked.manifests, options));
  for (const line of leftOutLines(targets)) print(line);
  const unread = options.out === '-' ? [] : await unreadFiles(result, host);
  if (unread.length > 0)
    warn(
      `the stack does not read these files: add ${unread.map(quoted).join(', ')} to "spec.manifests" of ${result.job.stack.file}`,
    );
}

function unreadOf({ sets }: ExportedTarget, options: ExportOptions): readonly string[] {
  const lines = [...sets].flatMap(([kind, set]) =>
    isLeftOut(set, options)
      ? [`no ${kind} is exported, as the token may not list them: ${set.incomplete.join('; ')}`]
      : set.incomplete.map((why) => `not everything was read: ${why}`),
  );
  return [...new Set(lines)];
}

/** How to export the kinds that were read. */
function withoutUnread(targets: readonly ExportedTarget[]): string[] {
  const sets = targets.flatMap((target) => [...target.sets]);
  const unread = new Set(sets.flatMap(([kind, { incomplete }]) => (incomplete.length > 0 ? [kind] : [])));
  const others = new Set(sets.flatMap(([kind]) => (unread.has(kind) ? [] : [`--kind ${kind}`])));
  if (unread.size === 0 || others.size === 0) return [];
  return [`To export without ${[...unread].join(', ')}: ${[...others].join(' ')}`];
}

function exportedLine(manifests: readonly DraftedManifest[], { out, group }: ExportOptions): string {
  if (manifests.length === 0) return 'nothing to export';
  const kinds = [...Map.groupBy(manifests, ({ kind }) => kind.name)].map(
    ([kind, members]) => `${members.length} ${kind}`,
  );
  const where =
    out === '-' ? '' : ` into ${counted(groupFiles(manifests, group).length, 'file')} under ${quoted(out)}`;
  return `exported ${kinds.join(', ')}${where}`;
}

function leftOutLines(targets: readonly ExportedTarget[]): string[] {
  const counts = new Map<string, number>();
  for (const { leftOut } of targets)
    for (const [why, count] of leftOut) counts.set(why, (counts.get(why) ?? 0) + count);
  const parts = [...counts].map(([why, count]) => `${count} ${why}`);
  return parts.length === 0 ? [] : [`left out: ${parts.join(', ')} (--all includes them)`];
}

/** Patterns that the stack needs to read the new files, relative to its directory; empty when it reads all of them already. */
async function unreadFiles({ job, checked, options }: ExportResult, host: CliHost): Promise<string[]> {
  const { resources } = await loadManifests(job.file, host);
  const read = new Set(resources.map(({ address }) => formatAddress(address)));
  const isRead = ({ address }: DraftedManifest) => read.has(formatAddress(address));
  if (checked.manifests.every(isRead)) return [];
  return [join(relative(job.stack.directory, resolve(host.cwd, options.out)), '**', '*.yaml')];
}
