/** Finds the documents that move with a resource, and where the receiving stack and its ledger reach it. */
import { join, relative, resolve } from 'node:path';
import { stateFolderName } from '../../files/write-file.ts';
import { slashes, standardInput } from '../../manifest/files/find-stack.ts';
import type { Manifests } from '../../manifest/read-manifests.ts';
import type { YamlDocument } from '../../manifest/yaml/yaml-document.ts';
import { formatAddress } from '../../model/address.ts';
import { memberOf, textsOf } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { ownsName } from '../../model/name-pattern.ts';
import { quoted } from '../../model/quoted.ts';
import type { MoveOrigin } from '../../model/resource.ts';
import { formatIdentity, identityOf, type Stack, type Target } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';

type Entry = Manifests['entries'][number];

export interface Loaded extends Manifests {
  readonly stack: Stack;
}

export interface Moved {
  readonly entry: Entry;
  /** absolute */
  readonly file: string;
  /** documents of its children, which move with it */
  readonly children: readonly { readonly entry: Entry; readonly file: string }[];
  readonly movedFrom: MoveOrigin;
  /** the name of the target in the receiving stack; undefined if its document need not name one */
  readonly target: string | undefined;
}

interface FindContext {
  readonly source: Loaded;
  readonly receiver: Loaded;
  readonly kinds: Registry;
  /** absolute */
  readonly cwd: string;
}

/** @throws CommandStop when the resource cannot be moved by editing documents */
export function findMoved(address: string, { source, receiver, kinds, cwd }: FindContext): Moved {
  if (source.stack.name === receiver.stack.name)
    throw notMovable(`both stacks are called ${quoted(source.stack.name)}: name another one with --to`);
  const entry = source.entries.find((one) => formatAddress(one.address) === address);
  if (entry === undefined)
    throw new CommandStop(
      'unknown-address',
      `no manifest of stack ${quoted(source.stack.name)} declares ${quoted(address)}: write the address as the plan shows it`,
    );
  refuseEntry(entry, address, kinds);
  const children = source.entries.filter(({ address: child, declaration: { kind }, shortForm }) => {
    const { ownership } = kind;
    return (
      shortForm === undefined && ownership.by === 'child' && formatAddress(ownership.of(child)) === address
    );
  });
  for (const child of children) refuseDocument(child, formatAddress(child.address));
  const fileOf = ({ declaration }: Entry) => resolve(cwd, declaration.document.source.file);
  const target = targetIn(receiver.stack, entry, kinds);
  const isOnly = receiver.stack.targets.filter(({ service }) => service === target.service).length === 1;
  return {
    entry,
    file: fileOf(entry),
    children: children.map((child) => ({ entry: child, file: fileOf(child) })),
    movedFrom: originIn(source.stack, receiver.stack),
    target: isOnly ? undefined : target.name,
  };
}

function notMovable(message: string): CommandStop {
  return new CommandStop('not-movable', `nothing was written: ${message}`);
}

function refuseEntry(entry: Entry, address: string, kinds: Registry): void {
  const { resource } = entry;
  const ownership = kinds.get(entry.address.kind)?.ownership;
  if (ownership?.by === 'child')
    throw notMovable(
      `${quoted(address)} moves with ${quoted(formatAddress(ownership.of(entry.address)))}: move that one`,
    );
  const { remove, movedTo, movedFrom, renamedFrom } = resource?.metadata ?? {};
  if (remove !== undefined || movedTo !== undefined)
    throw notMovable(
      `the document of ${quoted(address)} ${remove === undefined ? 'moves it to another stack already' : 'asks for its removal'}`,
    );
  const pending = movedFrom === undefined ? renamedFrom && 'renamedFrom' : 'movedFrom';
  if (pending !== undefined)
    throw notMovable(
      `${quoted(address)} has ${quoted(`metadata.${pending}`)}: apply the stack, remove that line, and move it then`,
    );
  refuseDocument(entry, address);
}

function refuseDocument({ declaration: { document } }: Entry, address: string): void {
  if (document.made !== undefined)
    throw notMovable(
      `${quoted(address)} is one of the resources that a template stands for: give it a document of its own first, as "trueup render" prints it`,
    );
  if (document.source.file === standardInput)
    throw notMovable(`${quoted(address)} is declared on standard input, which is not written`);
  const targets = targetsIn(document);
  if (targets.length > 1)
    throw notMovable(
      `the document of ${quoted(address)} stands for the targets ${targets.map(quoted).join(', ')}: give each target a document of its own first`,
    );
}

function targetsIn({ value }: YamlDocument): readonly string[] {
  return textsOf(memberOf(memberOf(value, 'metadata'), 'targets'));
}

/** The target of the receiving stack that is the same place. */
function targetIn({ name, targets }: Stack, { address, target }: Entry, kinds: Registry): Target {
  const identity = formatIdentity(identityOf(target));
  const same = targets.filter((one) => formatIdentity(identityOf(one)) === identity);
  const names = kinds.get(address.kind)?.names;
  const owning = same.find((one) => names !== undefined && ownsName(one, address.name, names));
  const found = owning ?? same[0];
  if (found !== undefined) return found;
  throw notMovable(
    `stack ${quoted(name)} has no target that is the same place as ${quoted(target.name)} here: add it to its "spec.targets"`,
  );
}

/** How the receiving stack finds the ledger: both are expected in one place, except local ones, which stacks keep beside their files. */
function originIn(source: Stack, receiver: Stack): MoveOrigin {
  const [here = { in: 'local' as const }, there = { in: 'local' as const }] = [
    source.ledger,
    receiver.ledger,
  ];
  if (here.in !== there.in)
    throw notMovable(
      `stack ${quoted(source.name)} keeps its ledger in ${quoted(here.in)}, and stack ${quoted(receiver.name)} in ${quoted(there.in)}: give both "spec.ledger" the same place first`,
    );
  if (here.in !== 'local' || there.in !== 'local') return { stack: source.name };
  const folder = join(source.directory, here.folder ?? stateFolderName);
  const own = join(receiver.directory, there.folder ?? stateFolderName);
  if (folder === own) return { stack: source.name };
  return { stack: source.name, folder: slashes(relative(receiver.directory, folder)) };
}
