/**
 * Which settings hold for the plan of one stack: its own, or those of the base branch if otherwise an untrusted author would decide
 * where secrets go. What is not known counts as changed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loosenedSigners } from '../../approvals/loosened-signers.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { canonicalText } from '../../model/json.ts';
import type { Stack } from '../../model/stack.ts';
import type { LoosenedSetting } from '../../model/guard.ts';
import type { CliHost } from '../host.ts';
import type { AdjustedStack } from '../load-manifests.ts';
import { declaredSources } from '../needed-secrets.ts';
import {
  type LoosenedPolicies,
  policiesInFolders,
  policyTextsOf,
  type StackInFolder,
} from './loosened-policies.ts';
import { sourceToShow } from '../read-secret.ts';
import type { CommitStacks, StackOfCommit } from './commit-stacks.ts';
import { adjustTo, changedPlaces, hasTargetsOf, newSources } from './compare-base.ts';
import type { CiScope } from './scope.ts';
import { filesOfSigners, filesOfTargets } from './stack-files.ts';

export interface Baseline {
  adjust(stack: Stack): AdjustedStack;
  /** warnings of the plan: the changes decide where secrets go, or the plan uses the targets of the base branch */
  readonly notes: readonly Diagnostic[];
  /** why the stack may only be validated, as a clause */
  readonly onlyValidate?: string;
}

/** Whether the author of the changes may choose where secrets go; `why` is the reason if not, as a clause. Called only where it matters. */
export type Trust = () => Promise<{ readonly isTrusted: boolean; readonly why: string }>;

/** @param file of the stack, from the top of the repository */
export async function findBaseline(
  { head, from, baseTip }: Pick<CiScope, 'head' | 'from' | 'baseTip'>,
  file: string,
  { host, trust }: { readonly host: CliHost; readonly trust: Trust },
): Promise<Baseline> {
  const headVersion = await head.read(file);
  const stack = headVersion?.stack ?? headVersion?.partial;
  const earlierVersions = await Promise.all([versionIn(from, file, stack), versionIn(baseTip, file, stack)]);
  const [fromVersion, baseTipVersion] = earlierVersions;
  const after = stack && { stack, root: head.place.directory };
  const isUnreadable = earlierVersions.some(
    (version) => version !== undefined && version.stack === undefined,
  );
  const unknown = isUnreadable && after ? await notCompared(after, host) : undefined;
  const stacks = earlierVersions.flatMap((version) => version?.stack ?? []);
  const signers = await newSigners(fromVersion?.stack, stack);
  const policies = await earlierPolicies([from, baseTip], earlierVersions, { after, host });
  const given = { stacks, unknown, signers, policies };
  const adjust = adjustTo(given);
  if (headVersion === undefined || stack === undefined || baseTip === undefined) return { adjust, notes: [] };
  const changed = changesOf({ headVersion, stack, baseTipVersion }, { head, baseTip, file, host });
  if (changed.what.length === 0) return { adjust, notes: [] };
  const { isTrusted, why } = await trust();
  if (isTrusted) return { adjust, notes: [changedWarning(changed.what)] };
  const what = `the changes decide where secrets go (${changed.what.join(', ')}), and ${why}`;
  const baseStack = baseTipVersion?.stack ?? fromVersion?.stack;
  if (!changed.canUseBase || baseStack === undefined) return { adjust, notes: [], onlyValidate: what };
  const message = `${what}: this plan was made with the targets, the ledger and the archive of the base branch`;
  return {
    adjust: adjustTo({ ...given, placesFrom: baseStack }),
    notes: [warning('targets-of-base', message)],
  };
}

/** The signers that were added since the base, also those in files that only the newer version names. */
async function newSigners(before: Stack | undefined, now: Stack | undefined): Promise<LoosenedSetting[]> {
  if (before === undefined || now === undefined) return [];
  const known = filesOfSigners(before);
  const found = filesOfSigners(now).map(async (path) => {
    const was = known.includes(path) ? await textIn(before, path) : undefined;
    return loosenedSigners(path, { before: was, after: await textIn(now, path) });
  });
  return (await Promise.all(found)).flat();
}

/** The policies that were stricter in an earlier version. `sources` has all of them, `loosened` only the differences from the first. */
async function earlierPolicies(
  commits: readonly (CommitStacks | undefined)[],
  versions: readonly (StackOfCommit | undefined)[],
  { after, host }: { readonly after: StackInFolder | undefined; readonly host: CliHost },
): Promise<LoosenedPolicies> {
  const found: LoosenedPolicies[] = [];
  for (const [index, version] of versions.entries()) {
    const { commit, place } = commits[index] ?? {};
    if (version?.stack === undefined || commit === undefined || place === undefined || after === undefined)
      continue;
    const before = { stack: version.stack, root: place.directory };
    found.push(await policiesInFolders([before, after], commit, host));
  }
  return {
    loosened: found[0]?.loosened ?? [],
    sources: found.flatMap(({ sources }) => sources),
  };
}

/** For a stack that the base cannot show. An acknowledgement of it covers only these signers and policies. */
async function notCompared(after: StackInFolder, host: CliHost): Promise<LoosenedSetting> {
  const before = 'not readable at the base';
  const files = {
    signers: await Promise.all(
      filesOfSigners(after.stack).map(async (path) => [path, (await textIn(after.stack, path)) ?? null]),
    ),
    policies: (await policyTextsOf(after, host)).map(({ file, text }) => [file, text]),
  };
  return {
    ...{ name: 'the whole stack', before, after: 'as it is now, without a comparison', isLost: true },
    whole: { before, after: canonicalText(files) },
  };
}

async function textIn({ directory }: Stack, path: string): Promise<string | undefined> {
  return readFile(join(directory, path), 'utf8').catch(() => undefined);
}

/** The stack in another commit: at the same path, else under the same name. A new path must not make it a new stack. */
async function versionIn(
  stacks: CommitStacks | undefined,
  file: string,
  stack: Stack | undefined,
): Promise<StackOfCommit | undefined> {
  const there = await stacks?.read(file);
  if (there !== undefined || stack === undefined || stacks === undefined) return there;
  for (const name of [stack.name, stack.renamedFrom]) {
    const moved = name === undefined ? undefined : await stacks.fileOf(name);
    if (moved !== undefined) return stacks.read(moved);
  }
  return undefined;
}

interface Changes {
  /** as names for people */
  readonly what: readonly string[];
  /** whether the manifests can be planned with the targets of the base */
  readonly canUseBase: boolean;
}

function changesOf(
  {
    headVersion,
    stack,
    baseTipVersion,
  }: {
    readonly headVersion: StackOfCommit;
    readonly stack: Stack;
    readonly baseTipVersion: StackOfCommit | undefined;
  },
  {
    head,
    baseTip,
    file,
    host,
  }: {
    readonly head: CommitStacks;
    readonly baseTip: CommitStacks;
    readonly file: string;
    readonly host: CliHost;
  },
): Changes {
  if (baseTipVersion?.stack === undefined)
    return {
      what: [baseTipVersion === undefined ? 'a new stack' : 'a stack that the base cannot read'],
      canUseBase: false,
    };
  const base = baseTipVersion.stack;
  const places = changedPlaces(base, stack);
  const named = new Set([...filesOfTargets(base, file), ...filesOfTargets(stack, file)]);
  const files = [...named].filter((path) => head.idOf(path) !== baseTip.idOf(path));
  const sourcesIn = ({ resources }: StackOfCommit) =>
    declaredSources(resources, host.kinds).map(({ source }) => source);
  const sources = newSources({ stack: base, sources: sourcesIn(baseTipVersion) }, sourcesIn(headVersion));
  return {
    what: [
      ...places,
      ...files.map((path) => `the file ${path}`),
      ...sources.map((source) => `the source of a secret ${sourceToShow(source)}`),
    ],
    canUseBase: files.length === 0 && sources.length === 0 && hasTargetsOf(base, stack),
  };
}

/** The warning for everyone who approves the plan. It is shown even if nothing else changes. */
function changedWarning(what: readonly string[]): Diagnostic {
  const message = `the changes decide where secrets go (${what.join(', ')}): people who approve this plan also approve that`;
  return warning('targets-changed', message);
}

export function warning(
  code: 'targets-of-base' | 'targets-changed' | 'validated-only',
  message: string,
): Diagnostic {
  return { code, severity: 'warning', class: 'failure', message };
}
