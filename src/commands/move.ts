/**
 * `trueup move ADDRESS --to STACK`: edits the manifests of two stacks so that one takes a resource over from the other. Writes files
 * only; the applies of the stacks make the move.
 */
import type { Command } from 'commander';
import { standardInput } from '../manifest/files/find-stack.ts';
import { formatAddress } from '../model/address.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { sameJson } from '../model/json.ts';
import { counted, quoted } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import { diagnosticsMember, renderJson } from '../report/json/render-json.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { notWritten } from '../run/consent.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { loadManifests, loadStack } from '../run/load-manifests.ts';
import { patchOf } from '../run/manifest-edits/draft-files.ts';
import { partlyWritten, writeFiles } from '../run/manifest-edits/write-files.ts';
import { listenForEnd } from '../run/stop-signals.ts';
import { refuseOutside } from '../run/stack-moves.ts';
import { type CommandContext, printJson, printNote } from '../run/terminal.ts';
import { chooseFile, findMoved, type Moved, type MoveEdit, moveEdits } from './move-edits.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('<address>', 'the resource, as the plan names it, such as Workspace/acme/app')
    .argument('[path]', `the stack that has it: ${stackHelp}`)
    .requiredOption(
      '--to <stack>',
      'the stack that takes it over: a directory with a trueup.yaml, or a stack file',
    )
    .option('--file <path>', 'the file for its document, relative to the folder of the receiving stack')
    .option('--dry-run', 'show the patches, and write nothing')
    .addOption(formatOption())
    .option('-y, --yes', 'do not ask; required without a terminal')
    .action(async (address: string, path: string | undefined, options: MoveOptions) => {
      end(await move(address, path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    [
      'trueup move Workspace/acme/app --to ../payments',
      'write the document into the stack payments, and leave a document here that says where it goes',
    ],
    ['trueup move Workspace/acme/app billing --to payments --dry-run', 'show the patches of both stacks'],
  );
}

interface MoveOptions extends CommonOptions {
  readonly to: string;
  readonly file?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

async function move(
  address: string,
  path: string | undefined,
  options: MoveOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  if (path === standardInput || options.to === standardInput)
    throw new CommandStop('stack-file-needed', 'manifests on standard input are not written: give a stack');
  const [source, receiver] = [await loadStack(path, host), await loadStack(options.to, host)];
  const found = findMoved(address, { source, receiver, kinds: host.kinds, cwd: host.cwd });
  await refuseOutside(found.movedFrom, receiver.stack);
  const file = chooseFile(found, { receiver, file: options.file, cwd: host.cwd });
  const edits = await moveEdits(found, { source, receiver, file, cwd: host.cwd });
  const drafts = new Map(
    edits.map(({ file: edited, draft, after }) => [draft?.file ?? edited, draft?.text ?? after] as const),
  );
  const drafted = {
    source: await loadManifests(path, host, { drafts }),
    receiver: await loadManifests(options.to, host, { drafts }),
  };
  const problems = [...drafted.source.diagnostics, ...drafted.receiver.diagnostics];
  if (hasErrors(problems)) throw CommandStop.ofProblems(problems);
  const files = edits.map(({ file: edited, before, after }) =>
    patchOf(edited, { before, after }, { cwd: host.cwd, kinds: host.kinds }),
  );
  const [from, to] = [source.stack.name, receiver.stack.name];
  const isText = terminal.format === 'text';
  if (isText) for (const { patch } of files) host.stdout.write(patch);
  for (const note of otherValues(found, source.resources, drafted.receiver.resources))
    printNote(terminal, note);
  const answer = (written: boolean) =>
    printJson(terminal, (reported = []) =>
      renderJson({ version: 1, address, from, to, written, files, ...diagnosticsMember(reported) }),
    );
  answer(false);
  if (options.dryRun) return exitCodes.done;
  await write(edits, options, context);
  answer(true);
  if (isText)
    host.stdout.write(
      `\nNext: plan and apply stack ${quoted(to)}, which takes it over once the guard "takeover" is acknowledged. Stack ${quoted(from)} keeps it until then; afterwards, delete its document there.\n`,
    );
  return exitCodes.done;
}

/** Notes on values that change because the stacks have different defaults: documents move with their own values only. */
function otherValues(
  { entry: { address }, target = address.target, movedFrom }: Moved,
  before: readonly DesiredResource[],
  after: readonly DesiredResource[],
): string[] {
  const isNamed = (one: DesiredResource) => one.address.name === address.name;
  const former = before.filter((one) => isNamed(one) && one.address.target === address.target);
  const received = after.filter((one) => isNamed(one) && one.address.target === target);
  const kinds = [...new Set([...former, ...received].map((one) => one.address.kind))];
  return kinds.flatMap((kind) => {
    const [was, is] = [former, received].map(
      (all) => all.find((one) => one.address.kind === kind)?.spec ?? {},
    );
    const names = Object.keys({ ...was, ...is }).filter((name) => !sameJson(was?.[name], is?.[name]));
    if (names.length === 0) return [];
    const fields = names.toSorted().map(quoted).join(', ');
    const text = quoted(formatAddress({ ...address, kind, target }));
    return [
      `${text} gets other values, because the defaults of stack ${quoted(movedFrom.stack)} do not come along: ${fields}`,
    ];
  });
}

/** Writes all files or none. @throws CommandStop when nothing was written */
async function write(
  edits: readonly MoveEdit[],
  options: MoveOptions,
  context: CommandContext,
): Promise<void> {
  const { host, terminal } = context;
  if (options.yes !== true) {
    if (!host.interactive || terminal.format !== 'text')
      throw new CommandStop(
        'nobody-to-ask',
        'nothing was written: where nobody can answer, pass --yes to write it, or --dry-run to see it only',
      );
    const stops = listenForEnd(host);
    try {
      const isAgreed = await host.confirm(`Write ${counted(edits.length, 'file')}?`, stops.stopStarting);
      if (!isAgreed) throw notWritten(terminal, stops.stopStarting);
    } finally {
      stops.dispose();
    }
  }
  const { files, failure } = await writeFiles(edits);
  if (failure === undefined) {
    host.stderr.write(`wrote ${counted(edits.length, 'file')}\n`);
    return;
  }
  const undone = edits.filter(({ file }) => files.includes(file));
  const { failure: undoFailure } = await writeFiles(
    undone.map((edit) => ({ ...edit, before: edit.after, after: edit.before })),
  );
  if (undoFailure === undefined) throw failure.reason;
  throw partlyWritten(files, failure, host.cwd);
}
